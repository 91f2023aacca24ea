import { isDeepStrictEqual } from 'node:util';
import { AgentToolVersion } from '../../persistence/entities/agent-tool-version.entity.ts';
import { must, shown } from './contract-broken.ts';
import type { DatabaseTrials } from './database-trial.ts';
import { STORABLE_ODD_TEXTS } from './odd-texts.ts';

/** In the hour that some zones have twice, with milliseconds. */
const AT = new Date('2026-10-25T00:30:00.123Z');

const READ = `select true as bool, 9007199254740993::bigint as int8, 2 as int4, 1.5::float8 as float8, 'x' as text,
  '{"a": [1, null]}'::jsonb as json, null as nothing, '\\x00ff'::bytea as bytes`;

/** As our entities read them. */
const AS = {
  bool: true,
  int8: '9007199254740993',
  int4: 2,
  float8: 1.5,
  text: 'x',
  json: { a: [1, null] },
  nothing: null,
  bytes: Buffer.from([0, 255]),
};

/** Values on their way there and back. */
export function ofValues({ open }: DatabaseTrials): Record<string, () => Promise<void>> {
  return {
    'reads values of every type alike': () =>
      open(async (trial) => {
        const [row] = await trial.rows(READ);
        for (const [type, value] of Object.entries(AS)) {
          must(isDeepStrictEqual(row?.[type], value), `${shown(row?.[type])} of the type ${type}, for ${shown(value)}`);
        }
      }),
    'takes texts and JSON to the letter, whatever stands in them': () =>
      open(async (trial) => {
        for (const { text } of STORABLE_ODD_TEXTS) {
          const given = [text, JSON.stringify({ text })];
          const [row] = await trial.transaction((em) => em.execute('select ?::text as text, ?::jsonb as json', given));
          must(row?.text === text, `${shown(row?.text)} for ${shown(text)}`);
          must(isDeepStrictEqual(row?.json, { text }), `${shown(row?.json)} for the JSON of ${shown(text)}`);
        }
      }),
    'keeps times to the millisecond, by the unit of work': () =>
      open(async (trial) => {
        const key = { agentName: 'contract', toolName: trial.newMark(), toolVersion: 1 };
        await trial.transaction(async (em) => {
          em.persist(em.create(AgentToolVersion, { ...key, schemaDigest: '0'.repeat(64), createdAt: AT }));
          await em.flush();
        });
        const { createdAt } = await trial.em().findOneOrFail(AgentToolVersion, key);
        must(createdAt.getTime() === AT.getTime(), `${shown(createdAt)} for ${shown(AT)}`);
      }),
  };
}
