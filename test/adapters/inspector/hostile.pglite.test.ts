import { expect, test } from 'vitest';
import { inspector } from '../../../adapters/inspector/inspector.ts';
import { requireApproval } from '../../../index.ts';
import { ODD_TEXTS } from '../../support/odd-texts.ts';
import { onPglite } from '../../support/runtime-database.ts';
import { openRuntime, openSession, scriptedAgent } from '../../support/runtime-open.ts';
import { call, eachRun, looseTool } from '../../support/runtime-script.ts';
import { getPage, linksOf, type Page, sendForm } from './inspect-page.ts';
import { parsePage } from './markup.ts';

/** Ends attributes, elements, scripts and comments, begins others, and is an address and a style; then what turns text around. */
const ATTACKS = [
  `"><img src=x onerror=alert(1)>`,
  `'><svg/onload=alert(1)>`,
  `</script><script>alert(1)</script>`,
  `--><!--</textarea></title></style>`,
  `javascript:alert(1)//`,
  `x" onmouseover="alert(1)" style="background:url(//evil.example)`,
  `&lt;b&gt;&#60;b&#62;&`,
  `\${alert(1)}{{7*7}}`,
  `\u202egnp.exe\u2066\u200b\u0007\u001b[31m\u2028`,
];

const HOSTILE = ATTACKS.join(' ');
const HOSTILE_ID = `"'><b>&\u202e`;

/** Elements and attributes that pages are made of. What could run, load or style anything is not among them but for the head's own. */
const ELEMENTS = new Set(
  (
    'html head meta title link script body a header footer main nav section article aside div span p h1 h2 h3 h4 ul ol li dl dt dd table caption thead ' +
    'tbody tr th td form label input select option datalist textarea button details summary pre code time bdi strong em small progress svg g path rect ' +
    'line circle ellipse polygon polyline text tspan defs marker title desc br hr kbd figure figcaption output'
  ).split(' '),
);
const DANGEROUS = /^(on|style$|srcdoc$|formaction$|ping$|http-equiv$|xlink)/;
const UNSAFE = /(?![\n\t])[\p{Cc}\p{Cs}\u2028\u2029\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/u;

/** What of a page is not as every page must be. */
function wrongWith({ tags, text }: Pick<Page, 'tags' | 'text'>): string[] {
  return [
    ...tags.filter(({ name }) => !ELEMENTS.has(name)).map(({ name }) => `element ${name}`),
    ...tags.flatMap(({ name, attributes }) => [
      ...[...attributes.keys()].filter((one) => DANGEROUS.test(one)).map((one) => `${name} has ${one}`),
      // A field holds what will be sent, to the letter; it is a box of its own, which turns nothing around it.
      ...[...attributes]
        .filter(([one, value]) => !(one === 'value' && ['input', 'option'].includes(name)) && UNSAFE.test(value))
        .map(([one]) => `${name} has an unsafe ${one}`),
      ...['href', 'src', 'action'].flatMap((one) => {
        const value = attributes.get(one);
        return value === undefined || /^(\/(?!\/)|#|\?)/.test(value) ? [] : [`${name} leads to ${value}`];
      }),
    ]),
    ...tags
      .filter(({ name, attributes }) => name === 'script' && !attributes.get('src')?.startsWith('/assets/'))
      .map(() => 'a script'),
    ...(UNSAFE.test(text) ? [`unsafe text: ${JSON.stringify(UNSAFE.exec(text)?.[0])}`] : []),
  ];
}

onPglite((database) => {
  test('C39 hostile markup in every column that holds text is text on every page', async () => {
    const refund = looseTool('refund', () => 1, {
      policy: () => requireApproval({ approvers: { users: [HOSTILE_ID] } }),
    });
    const fail = looseTool('fail', () => Promise.reject(new Error(HOSTILE)));
    const texts = [...ATTACKS, ...ODD_TEXTS.map(({ given }) => given)];
    const agent = scriptedAgent(
      eachRun(
        {
          text: texts.join('\n'),
          toolCalls: [call('fail', { [HOSTILE]: texts }), call(HOSTILE, undefined, { invalidInput: HOSTILE })],
        },
        { toolCalls: [call('refund', { [HOSTILE]: texts })] },
      ),
      [refund, fail],
    );
    const runtime = await openRuntime(database(), [agent]);
    const who = { tenantId: HOSTILE_ID, userId: HOSTILE_ID, externalId: HOSTILE_ID, metadata: { [HOSTILE]: HOSTILE } };
    const session = await openSession(runtime, agent, who);
    await (await session.send(texts.join('\n'))).result();

    const written = await overwrite();
    expect(written.length).toBeGreaterThan(25);

    const handler = inspector(runtime, {
      viewer: { tenantId: null, by: HOSTILE_ID, roles: [HOSTILE_ID] },
      decide: true,
    });
    const pages = new Map<string, Page>();
    const search = `/?${new URLSearchParams({ q: HOSTILE, agent: HOSTILE.slice(0, 60), user: HOSTILE_ID, tenant: HOSTILE_ID })}`;
    const open = [
      '/',
      search,
      '/awaiting',
      '/doctor',
      '/controls',
      `/controls?${new URLSearchParams({ tenant: HOSTILE_ID })}`,
    ];
    while (open.length > 0 && pages.size < 80) {
      const path = open.shift() as string;
      if (pages.has(path)) continue;
      const page = await getPage(handler, path);
      pages.set(path, page);
      open.push(...linksOf(page).filter((link) => link.startsWith('/') && !pages.has(link)));
    }
    const doctor = await sendForm(handler, '/doctor', { audit: '1' });
    const examined = { ...parsePage(await doctor.text()) };
    const wrong = [...pages]
      .map(([path, page]) => [path, wrongWith(page)] as const)
      .filter(([, found]) => found.length > 0);
    expect(wrong).toEqual([]);
    expect(wrongWith(examined)).toEqual([]);
    expect([...pages.values()].filter(({ status }) => status >= 500)).toEqual([]);
    const all = [...pages.values()].map(({ text }) => text).join('\n');
    expect(all).toContain(`"><img src=x onerror=alert(1)>`);
    expect(all).toContain(String.raw`\u202e`);
    expect([...pages.keys()].some((path) => path.startsWith(`/sessions/${session.sessionId}`))).toBe(true);
  });

  /** Puts hostile text into every column of text that takes it, past every guard, as a broken or hostile writer might. */
  async function overwrite(): Promise<string[]> {
    const columns = await database().query(
      `select table_name, column_name, data_type, character_maximum_length as max from information_schema.columns
        where table_schema = 'turnlock' and table_name like 'agent\\_%' and data_type in ('text', 'character varying', 'jsonb')
          and column_name not in ('tenant_id', 'agent_name', 'machine_id', 'snapshot') and is_generated = 'NEVER' order by 1, 2`,
    );
    const written: string[] = [];
    await database().query(`set session_replication_role = 'replica'`);
    for (const { table_name, column_name, data_type, max } of columns) {
      const text = max === null ? HOSTILE : HOSTILE.slice(0, max);
      const value = data_type === 'jsonb' ? JSON.stringify({ [HOSTILE]: [HOSTILE] }) : text;
      const keeps =
        data_type === 'jsonb' &&
        ['parts', 'payload', 'approvers', 'normalised', 'token_usage_json', 'controls'].includes(column_name);
      if (keeps) continue; // of a form that readers rely on; what is hostile in them came by the runtime
      try {
        await database().query(`update turnlock.${table_name} set ${column_name} = $1`, [value]);
        written.push(`${table_name}.${column_name}`);
      } catch {
        // a CHECK or a unique constraint holds it: no text of anybody's
      }
    }
    await database().query(`set session_replication_role = 'origin'`);
    return written;
  }
});
