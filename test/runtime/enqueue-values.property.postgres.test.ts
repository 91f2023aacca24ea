import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Session } from '../../index.ts';
import { awkwardText } from '../persistence/values/arbitrary-json.ts';
import { describeProperties, runs } from '../support/property.ts';
import { onPostgres, type RuntimeDatabase } from '../support/runtime-database.ts';
import { openRuntime, openSession } from '../support/runtime-open.ts';
import { echoAgent, userTexts } from './inbox-scene.ts';

/** A message as another program writes it: JSON is text, so that it holds what no value of ours can. */
interface Written {
  messageId: string | null;
  content: string;
  whenBusy: string;
  parts: string | null;
  metadata: string;
  normalised: string | null;
}

const storableText = awkwardText.map((text) => text.toWellFormed().replaceAll('\0', ''));
const numberText = fc.oneof(
  fc.constantFrom('1e400', '-1e400', '-0', '1e-400', '12345678901234567890123', '0.1000000000000000055511151231257827'),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
);
const deepText = fc
  .oneof(fc.integer({ min: 1, max: 80 }), fc.constantFrom(999, 1_000, 5_000))
  .map((levels) => '['.repeat(levels) + ']'.repeat(levels));
const keyText = fc.oneof(storableText, fc.constantFrom('__proto__', 'constructor', 'toJSON', 'type', 'text'));

function objectText(member: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc
    .array(fc.tuple(keyText, member), { maxLength: 3 })
    .map((members) => `{${members.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')}}`);
}

const { value: anyText } = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom('null', 'true', '""'),
    numberText,
    storableText.map((text) => JSON.stringify(text)),
    deepText,
    fc.array(tie('value'), { maxLength: 3 }).map((elements) => `[${elements.join(',')}]`),
    objectText(tie('value')),
  ),
}));

const partText = fc.oneof(
  storableText.map((text) => JSON.stringify({ type: 'text', text })),
  anyText.map((value) => `{"type":"text","text":"said","providerMetadata":${value}}`),
  anyText,
);

/** The usual, and one in four times something else. */
function mostly<Value>(usual: fc.Arbitrary<Value>, ...rest: fc.Arbitrary<Value>[]): fc.Arbitrary<Value> {
  return fc.oneof(
    { weight: 3 * rest.length, arbitrary: usual },
    ...rest.map((arbitrary) => ({ weight: 1, arbitrary })),
  );
}

const written: fc.Arbitrary<Written> = fc.record({
  messageId: fc.option(fc.oneof(fc.constantFrom('m1', 'm2'), fc.string({ unit: 'grapheme', maxLength: 256 }))),
  content: mostly(storableText, fc.constant('x'.repeat(5_000))),
  whenBusy: mostly(fc.constantFrom('enqueue', 'reject', 'interrupt', 'supersede'), fc.constant('sometimes')),
  parts: mostly(
    fc.constant(null),
    fc.array(partText, { maxLength: 2 }).map((parts) => `[${parts.join(',')}]`),
    anyText,
  ),
  metadata: mostly(objectText(anyText), anyText),
  normalised: mostly(fc.constantFrom(null, '["/message"]'), anyText),
});

/** Puts `row` into the inbox; `false` where the call itself is refused, to whoever makes it. */
async function put(database: RuntimeDatabase, { tenantId, sessionId }: Session, row: Written): Promise<boolean> {
  const { messageId, content, whenBusy, parts, metadata, normalised } = row;
  try {
    const [{ is_new }] = await database.query(
      'SELECT is_new FROM turnlock.enqueue($1, $2, $3, $4, $5, $6::text::jsonb, $7::text::jsonb, $8::text::jsonb)',
      [tenantId, sessionId, messageId, content, whenBusy, parts, metadata, normalised],
    );
    return is_new;
  } catch (error) {
    // A malformed argument, another content under a known id, or what jsonb itself does not hold.
    expect((error as { code: string }).code).toMatch(/^(TL060|TL063|22P05|54001)$/);
    return false;
  }
}

const GOOD: Written = {
  messageId: null,
  content: 'hello',
  whenBusy: 'enqueue',
  parts: null,
  metadata: '{"order":-0}',
  normalised: null,
};

/** What once kept a session from every later message, among some that become turns. */
const FOUND: Written[] = [
  { ...GOOD, messageId: 'm1', metadata: '{"total":1e400}' },
  { ...GOOD, messageId: 'm2', parts: '[{"type":"text","text":"said","n":[-1e400]}]' },
  { ...GOOD, normalised: '[1e400]' },
  { ...GOOD, normalised: '{"length":0}' },
  { ...GOOD, metadata: `{"deep":${'['.repeat(999)}${']'.repeat(999)}}` },
  GOOD,
];

onPostgres((database) => {
  describeProperties('turnlock.enqueue', () => {
    test('whatever jsonb and text a program gives it: each row becomes a turn or is refused, and the next good message is answered', async () => {
      const { agent } = echoAgent();
      const runtime = await openRuntime(database(), [agent], { limits: { maxMessageBytes: 4_096 } });
      const taken = { turns: 0, refused: 0 };
      await fc.assert(
        fc.asyncProperty(fc.array(written, { minLength: 1, maxLength: 5 }), async (rows) => {
          const session = await openSession(runtime, agent);
          let accepted = 0;
          for (const row of rows) accepted += Number(await put(database(), session, row));
          const good = await session.send('good');
          expect(await good.result()).toMatchObject({ state: 'IDLE', reply: 'heard good', error: null });
          const left = await database().query('SELECT rejected_code FROM turnlock.agent_inbox WHERE session_id = $1', [
            session.sessionId,
          ]);
          for (const { rejected_code } of left) {
            expect(rejected_code).toMatch(/^(VALUE_INVALID|VALUE_TOO_LARGE|MESSAGE_REPEATED|MESSAGE_CONFLICT)$/);
          }
          const turns = (await userTexts(session)).length - 1;
          expect(turns + left.length).toBe(accepted);
          expect((await session.verify()).findings).toEqual([]);
          taken.turns += turns;
          taken.refused += left.length;
        }),
        { ...runs(4), examples: [[FOUND]] },
      );
      expect(Math.min(taken.turns, taken.refused)).toBeGreaterThan(0); // both ways were gone
    });
  });
});
