import { checkTenant } from '../../../runtime/check-query.ts';
import { checkDoctor, type DoctorOptions } from '../../../runtime/doctor/check-doctor.ts';
import { type DoctorReport, examine } from '../../../runtime/doctor/doctor.ts';
import type { DoctorFinding } from '../../../runtime/doctor/doctor-finding.ts';
import { problemOf } from '../../http/problem.ts';
import { type Html, markup, said } from '../html.ts';
import { pageFrame } from '../page-frame.ts';
import { type PageContext, type Pages, showPage } from '../pages.ts';
import { readForm } from '../read-form.ts';
import { refuseUsers } from '../refuse-users.ts';
import type { Visit } from '../visit.ts';
import { findingArticle } from './finding.ts';

/** Findings that a page shows; all are counted. */
const MAX_FINDINGS = 200;

/** The longest form that is read. */
const MAX_FORM_BYTES = 4_096;

/** Doctor, run when somebody asks for it. */
export function doctorPages(pages: Pages): void {
  const examinations = new Set<object>();
  pages.get('/doctor', (context) => {
    const { visit } = context.env;
    refuseUsers(visit);
    return showPage(context, doctorPage(visit, { chosen: visit.query.get('tenant'), report: nothingYet() }));
  });
  pages.post('/doctor', (context) => runDoctor(context, examinations));
}

async function runDoctor(context: PageContext, examinations: Set<object>): Promise<Response> {
  const { visit } = context.env;
  refuseUsers(visit);
  const form = await readForm(context.req.raw, MAX_FORM_BYTES);
  const named = visit.viewer.tenantId ?? form.get('tenant');
  const tenant = named === null || named === '' ? null : checkTenant(named);
  const options = { ...(tenant === null ? { all: true } : { tenantId: tenant }), quick: form.get('audit') !== '1' };
  if (examinations.size > 0) {
    const busy = markup`<p class="note note-asks" role="status">An examination is under way already. Wait until it has ended, then begin another.</p>`;
    return showPage(context, doctorPage(visit, { chosen: tenant, report: busy }), 409);
  }
  const page = doctorPage(visit, { chosen: tenant, report: markup`<!--report-->` }).toString();
  const [before = '', after = ''] = page.split('<!--report-->'); // no text of others' holds it: theirs are escaped
  return new Response(streamReport(visit, options, { before, after, examinations }), {
    headers: { 'content-type': 'text/html; charset=UTF-8', 'x-accel-buffering': 'no' },
  });
}

/** The page as it is written: findings as they are made. Whoever goes away ends the examination after the sessions that are under way. */
function streamReport(
  visit: Visit,
  options: DoctorOptions,
  { before, after, examinations }: { before: string; after: string; examinations: Set<object> },
): ReadableStream<Uint8Array> {
  const gone = new AbortController();
  const encoder = new TextEncoder();
  return new ReadableStream({
    start(controller) {
      const write = (piece: Html | string): void => {
        if (!gone.signal.aborted) controller.enqueue(encoder.encode(piece.toString()));
      };
      const examination = {};
      examinations.add(examination);
      let shown = 0;
      write(before);
      write(markup`<section class="stack" aria-label="Findings"><p class="muted" role="status">Examining…</p>\n`);
      const onFinding = (finding: DoctorFinding): void => {
        shown += 1;
        if (shown <= MAX_FINDINGS) write(findingArticle(visit, finding));
      };
      const asked = { ...options, maxFindings: 0, onFinding, signal: gone.signal };
      const knowing = { build: visit.build, announces: false };
      void (async () => examine(visit.store, checkDoctor(asked, knowing)))()
        .then(
          (report) => write(summary(report)),
          (error: unknown) => write(failure(error)),
        )
        .finally(() => {
          examinations.delete(examination);
          write(markup`</section>`);
          write(after);
          if (!gone.signal.aborted) controller.close();
        });
    },
    cancel() {
      gone.abort();
    },
  });
}

function summary({ sessions, errors, warnings }: DoctorReport): Html {
  const looked = `${sessions.toLocaleString('en')} ${sessions === 1 ? 'session' : 'sessions'} examined`;
  if (errors + warnings === 0)
    return markup`<p class="note note-good" role="status"><strong>Nothing found.</strong> ${looked}.</p>`;
  const more = errors + warnings > MAX_FINDINGS ? ` The first ${MAX_FINDINGS} are shown.` : '';
  const tone = errors > 0 ? 'note-bad' : 'note-asks';
  return markup`<p class="note ${tone}" role="status"><strong>${counted(errors, 'error')}, ${counted(warnings, 'warning')}.</strong> ${looked}.${more}</p>`;
}

function failure(error: unknown): Html {
  const { detail, hint } = problemOf(error);
  return markup`<p class="note note-bad" role="alert"><strong>The examination ended early.</strong> ${said(detail)} ${said(hint)}</p>`;
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}

function nothingYet(): Html {
  return markup`<p class="empty muted">Nothing was examined yet.</p>`;
}

function doctorPage(visit: Visit, { chosen, report }: { chosen: string | null; report: Html }): Html {
  const tenant =
    visit.viewer.tenantId === null
      ? markup`<label class="label">Tenant<input class="field" name="tenant" value="${chosen ?? ''}" maxlength="64" autocomplete="off" placeholder="All tenants"></label>`
      : null;
  const main = markup`<div class="page-head"><div><h1>Doctor</h1><p>Looks for what is not as it must be: sessions that are stuck or stranded, work that nobody is at, history that does not fit its audit. It only reads; each finding says what repairs it.</p></div></div>
<form class="card filters" method="post" action="${visit.link('/doctor')}"><div class="filter-row">
  ${tenant}
  <label class="check"><input type="checkbox" name="audit" value="1"> Verify every audit too, which reads every row</label>
  <button class="button button-main" type="submit">Examine</button>
</div></form>
${report}`;
  return pageFrame(visit, { title: 'Doctor', section: 'doctor', main });
}
