import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import pg from 'pg';
import manifest from '../package.json' with { type: 'json' };
import { startEmbeddedServer } from '../test/support/embedded-server.ts';
import { describeMachine } from './machine.ts';
import { KILL_POINTS, RECEIVERS } from './peers/peer-task.ts';
import { PEERS, type Peer, type Played, type PlayGround, play, setUp } from './peers/play.ts';
import { reportPlays } from './peers/report-plays.ts';

/*
 * The same refund on LangGraph.js, DBOS Transact and Turnlock: its process is killed, another one goes on, and what counts is the ledger
 * of the payments service. See docs/comparison.md for what came of it.
 */

const USAGE = `Usage: npm run bench:peers -- [options]

Plays one refund on each framework, each receiver and each point at which its process is killed with SIGKILL, on a PostgreSQL
of its own, and prints what the outside ledger holds.

  --repeat <n>      plays everything so often (default 1)
  --only <peer>     ${PEERS.join(', ')}
  --json            one JSON object in place of the tables
  --help            this text
`;

const { values } = parseArgs({
  options: {
    repeat: { type: 'string', default: '1' },
    only: { type: 'string' },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) process.stdout.write(USAGE);
else
  await playAll(
    PEERS.filter((peer) => (values.only ?? peer) === peer),
    Number(values.repeat),
  );

async function playAll(peers: readonly Peer[], repeat: number): Promise<void> {
  const server = await startEmbeddedServer();
  const owner = new pg.Client({ connectionString: server.url });
  try {
    await owner.connect();
    const ground: PlayGround = { databases: await makeDatabases(owner, server.url), played: 0 };
    for (const peer of peers) await setUp(peer, ground);
    const plays: Played[] = [];
    for (let round = 0; round < repeat; round += 1) {
      for (const receiver of RECEIVERS) {
        for (const killPoint of KILL_POINTS) {
          for (const peer of peers) plays.push(tell(await play({ peer, receiver, killPoint }, ground)));
        }
      }
    }
    const machine = await describeMachine(owner);
    if (values.json) process.stdout.write(`${JSON.stringify({ machine, versions: versions(), plays }, null, 2)}\n`);
    else {
      const { date, node, server: database } = machine;
      process.stdout.write(
        `\n${date}, Node ${node}, ${database}, ${plays.length} plays\n\n${reportPlays(plays, versions())}`,
      );
    }
  } finally {
    await owner.end();
    await server.stop();
  }
}

async function makeDatabases(owner: pg.Client, url: string): Promise<Record<Peer, string>> {
  const made: [Peer, string][] = [];
  for (const peer of PEERS) {
    await owner.query(`CREATE DATABASE ${peer}`);
    made.push([peer, Object.assign(new URL(url), { pathname: `/${peer}` }).href]);
  }
  return Object.fromEntries(made) as Record<Peer, string>;
}

function tell(played: Played): Played {
  const { peer, receiver, killPoint, requests, refunds, ended } = played;
  process.stderr.write(
    `${[peer, receiver, killPoint].join(' ')}: ${requests} requests, ${refunds} refunds; ${ended}\n`,
  );
  return played;
}

/** Each framework with the versions that are installed here. */
function versions(): Record<Peer, string> {
  const versionOf = (name: string) =>
    JSON.parse(readFileSync(`bench/peers/node_modules/${name}/package.json`, 'utf8')).version;
  const { dependencies } = JSON.parse(readFileSync('bench/peers/package.json', 'utf8'));
  const has = (name: string) => (name in dependencies ? versionOf(name) : '');
  return {
    langgraph: `LangGraph.js ${has('@langchain/langgraph')}, checkpointer ${has('@langchain/langgraph-checkpoint-postgres')}`,
    dbos: `DBOS Transact ${has('@dbos-inc/dbos-sdk')}`,
    turnlock: `Turnlock ${manifest.version}`,
  };
}
