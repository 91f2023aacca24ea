import { parseArgs } from 'node:util';
import { Ledger } from './ledger.ts';
import { Payments } from './payments.ts';
import { serve } from './serve.ts';

/*
 * The payments service as a process: `node payments/main.ts --ledger <file> [--port <n>] [--behaviour <json>]`. It prints one JSON object a
 * line: `{ type: 'serving', port }`, then each entry of its ledger once it is on the disk. It ends when its standard input does.
 */

const { values } = parseArgs({
  options: { ledger: { type: 'string' }, port: { type: 'string', default: '0' }, behaviour: { type: 'string' } },
});
if (values.ledger === undefined) throw new Error('--ledger: found nothing, wanted a file');

const tell = (line: object) => process.stdout.write(`${JSON.stringify(line)}\n`);
process.stdin
  .on('end', () => process.exit())
  .on('error', () => process.exit())
  .resume();
const ledger = new Ledger(values.ledger, tell);
const behaviour = values.behaviour === undefined ? {} : JSON.parse(values.behaviour);
tell({ type: 'serving', port: await serve(new Payments(ledger), { port: Number(values.port), behaviour }) });
