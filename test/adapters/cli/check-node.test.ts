import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { nodeTooOld } from '../../../adapters/cli/check-node.ts';
import manifest from '../../../package.json' with { type: 'json' };

test.each(['22.18.0', '22.19.1', '23.0.0', '24.21.0', '100.1.0'])('Node %s is new enough for >=22.18', (found) => {
  expect(nodeTooOld(found, '>=22.18')).toBeNull();
});

test.each(['22.17.9', '22.2.0', '20.20.2', '18.0.0', '8.17.0'])('Node %s is too old for >=22.18', (found) => {
  expect(nodeTooOld(found, '>=22.18')).toBe(`turnlock needs a newer Node (found ${found}, wanted >=22.18)`);
});

test.each([
  ['>=24', '24.0.0'],
  ['>=24', '25.1.0'],
  ['*', '22.18.0'],
])('engines of %s take Node %s', (wanted, found) => {
  expect(nodeTooOld(found, wanted)).toBeNull();
});

test('engines without a minor refuse an older major', () => {
  expect(nodeTooOld('23.9.0', '>=24')).toBe('turnlock needs a newer Node (found 23.9.0, wanted >=24)');
});

test('the command says so in one line and does nothing else, before anything of it is loaded', () => {
  // Ends the process with another code where more of the command is loaded than what checks the version.
  const older = `
    import { registerHooks } from 'node:module';
    Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.11.1' } });
    registerHooks({
      load(url, context, next) {
        if (/adapters\\/(?!cli\\/(main|check-node)\\.ts)|node_modules/.test(url)) process.exit(99);
        return next(url, context);
      },
    });`;
  const args = ['--import', `data:text/javascript,${encodeURIComponent(older)}`, 'adapters/cli/main.ts', 'demo'];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  const said = `turnlock needs a newer Node (found 20.11.1, wanted ${manifest.engines.node})\n`;
  expect([status, stdout, stderr]).toEqual([1, '', said]);
});
