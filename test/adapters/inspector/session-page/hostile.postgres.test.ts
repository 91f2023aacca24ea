import { expect, test } from 'vitest';
import { escapeText } from '../../../../adapters/cli/escape-text.ts';
import { requireApproval, ToolError } from '../../../../index.ts';
import { ODD_TEXTS } from '../../../support/odd-texts.ts';
import { onPostgres } from '../../../support/runtime-database.ts';
import { openRuntime, openSession, scriptedAgent } from '../../../support/runtime-open.ts';
import { call, eachRun, looseTool } from '../../../support/runtime-script.ts';
import { pagesOf } from './session-scene.ts';

const MARKUP = '</p></title></textarea><script>alert(1)</script><img src=x onerror=alert(2)>"\' onclick="x" <!-- $1';
const HIDDEN = 'a\u202eb\u2066c\u200bd\u0007e\u001b[31mf';
const EVIL = `${MARKUP} ${HIDDEN} ${'W'.repeat(500)}`;

/** Tags and attributes that no page of ours has. */
const FORBIDDEN = [
  /<script(?! src="\/assets\/)/,
  /<img/,
  /onerror=alert[^&]*>/,
  / onclick="/,
  /<!-- \$/,
  /<\/title><\/textarea>/,
];

function escapedMarkup(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}

onPostgres((database) => {
  test('markup in turns, params, outputs, errors, names, metadata, questions and decisions is text on every page of a session', async () => {
    const fails = looseTool(
      'fails',
      () => {
        throw new ToolError(EVIL);
      },
      { effect: 'readOnly' },
    );
    const tells = looseTool('tells', () => ({ [MARKUP]: EVIL }), { effect: 'readOnly' });
    const asks = looseTool('asks', () => null, {
      effect: 'nonRepeatable',
      policy: () => requireApproval({ question: EVIL, approvers: { users: [MARKUP] } }),
    });
    const agent = scriptedAgent(
      eachRun(
        { text: EVIL, toolCalls: [call('fails', { [MARKUP]: EVIL }), call('tells'), call(`${MARKUP}`.slice(0, 60))] },
        { toolCalls: [call('asks', { EVIL })] },
        EVIL,
      ),
      [fails, tells, asks],
    );
    const runtime = await openRuntime(database(), [agent]);
    const session = await openSession(runtime, agent, {
      userId: MARKUP.slice(0, 60),
      externalId: MARKUP,
      metadata: { [MARKUP]: EVIL },
    });
    const { awaiting } = await (await session.send(EVIL, { messageId: MARKUP })).result();
    await session.send(EVIL);
    const get = pagesOf(runtime);
    const waiting = (await get(`/sessions/${session.sessionId}`)).page;
    const { executionId } = awaiting[0]!;
    await (await session.deny(executionId, { by: MARKUP, reason: EVIL })).result();
    const { version } = await session.status();
    const paths = [
      '',
      '/verify',
      '/entries?after=0',
      ...Array.from({ length: version }, (_, place) => `/at/${place + 1}`),
    ];
    const pages = [
      waiting,
      ...(await Promise.all(paths.map(async (path) => (await get(`/sessions/${session.sessionId}${path}`)).page))),
    ];
    for (const page of pages) {
      for (const forbidden of FORBIDDEN) expect(page).not.toMatch(forbidden);
      // biome-ignore lint/suspicious/noControlCharactersInRegex: that none is there is what is tested
      expect(page).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u200b\u202e\u2066]/);
    }
    const [, now = ''] = pages;
    expect(now).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
    expect(now).toContain('a\\u202eb\\u2066c\\u200bd\\u0007e\\u001b[31mf');
  });

  test('C39 a session with every odd text is shown, each as it is stored, on one line where it would break one', async () => {
    const agent = scriptedAgent(eachRun('yes'));
    const runtime = await openRuntime(database(), [agent]);
    const get = pagesOf(runtime);
    const session = await openSession(runtime, agent, {
      metadata: Object.fromEntries(ODD_TEXTS.map(({ name, given }) => [name, given])),
    });
    const texts = ODD_TEXTS.filter(
      ({ stored }) => stored.length > 0 && stored.length < 500 && !/[\r\n\t]/.test(stored),
    );
    expect(texts.length).toBeGreaterThan(30);
    for (const { given } of texts.slice(0, 24)) await (await session.send(given)).result();
    const { status, page } = await get(`/sessions/${session.sessionId}?after=0`);
    expect(status).toBe(200);
    for (const { name, stored } of texts.slice(0, 24)) expect(page, name).toContain(escapedMarkup(escapeText(stored)));
  });
});
