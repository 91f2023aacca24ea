import { expect, test } from 'vitest';
import { ofKind } from '../../../../adapters/cli/demo/ledger.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { ledgerOf, refundIsBooked } from './ledger-of.ts';
import { startChat } from './start-chat.ts';

test('kill -9 in the middle of a refund: the next start goes on, and the world saw one refund', async () => {
  const folder = await temporaryFolder('turnlock-chat-');
  const first = startChat(folder, []);
  first.say('hello');
  await first.shows(/I can look up an order/);
  first.say('Order 42 arrived broken');
  await refundIsBooked(folder);
  first.kill('SIGKILL');
  expect(await first.ended).toBe('SIGKILL');
  const second = startChat(folder, []);
  second.say('what about order 42?');
  second.end();
  expect(await second.ended, second.stderr()).toBe(0);
  expect(second.stderr()).toContain('The last run was interrupted');
  expect(second.stderr()).toContain('↻ refund again: attempt 2, with the same key');
  expect(second.stdout()).toBe(
    'Done: 49.00 EUR, refund R-1001. Sorry again for the trouble.\n' +
      'Let me look at order 42.\nOrder 42 is a teapot for 49.00 EUR. It is refunded: R-1001.\n',
  );
  const ledger = await ledgerOf(folder);
  expect(ofKind(ledger, 'refundBooked')).toHaveLength(1);
  expect(new Set(ofKind(ledger, 'refundRequested').map(({ key }) => key)).size).toBe(1);
});
