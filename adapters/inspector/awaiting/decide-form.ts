import { approversText, mayDecide } from '../../../persistence/approver-rule.ts';
import type { Awaiting } from '../../../persistence/list-awaiting.ts';
import { type Html, inAttribute, markup, said } from '../html.ts';
import type { Visit } from '../visit.ts';

/**
 * The forms by which a person decides about one call that waits: each is bound to the question and to the params as they are shown. Where
 * nothing is decided here, or not by this viewer, a sentence that says so.
 */
export function decideForms(visit: Visit, asked: Awaiting): Html {
  const { approvers, userId } = asked;
  const whose =
    approvers === null ? null : markup`<p class="small muted">Decided by ${said(approversText(approvers))}.</p>`;
  if (!visit.decides)
    return markup`${whose}<p class="muted small">This inspector is read only: decide by the command line or your service.</p>`;
  const { by, roles = [] } = visit.viewer;
  if (approvers !== null && !mayDecide(approvers, { by, roles }, userId)) {
    return markup`<p class="note">Decided by ${said(approversText(approvers))}. You are ${said(by)}${roles.length === 0 ? '' : markup`, ${said(roles.join(', '))}`}.</p>`;
  }
  return markup`${whose}${formsFor(visit, asked)}`;
}

function formsFor(visit: Visit, asked: Awaiting): Html {
  switch (asked.reason) {
    case 'approval':
      return markup`<div class="decide">${approveForm(visit, asked)}${denyForm(visit, asked)}</div>${byHand(visit, asked)}`;
    case 'answer':
      return markup`<div class="decide">${answerForm(visit, asked)}${failedForm(visit, asked, 'Tell the agent that there is no answer')}</div>`;
    case 'unknown':
      return markup`<div class="decide">${succeededForm(visit, asked)}${failedForm(visit, asked, 'It did not happen')}${againForm(visit, asked)}</div>`;
  }
}

/** Characters of the params that stand in an empty field, as an example of what belongs there. */
const MAX_PLACEHOLDER = 200;

function approveForm(visit: Visit, asked: Awaiting): Html {
  const { approvalId, params, problem } = asked;
  if (problem !== null)
    return markup`<p class="note note-bad">The params are not those that were recorded, so no approval is taken: refuse the call, and see what doctor says.</p>`;
  const id = `params-${approvalId}`;
  const change =
    visit.runtime === null
      ? null
      : markup`<details>
    <summary>Change the params</summary>
    <label class="label" for="${id}">Params as JSON<textarea class="field mono" id="${id}" name="params" rows="5" spellcheck="false" placeholder="${inAttribute(JSON.stringify(params).slice(0, MAX_PLACEHOLDER))}"></textarea>
    <span class="hint">Left empty, they stay as they are. Others are checked by the tool and its policy, and have a key of their own.</span></label>
  </details>`;
  return form(
    visit,
    asked,
    'approve',
    markup`<h4>Let it run</h4>
    ${change}
    <button class="button button-main" type="submit" aria-describedby="asked-${asked.approvalId}">Approve</button>`,
  );
}

function denyForm(visit: Visit, asked: Awaiting): Html {
  return form(
    visit,
    asked,
    'deny',
    markup`<h4>Refuse it</h4>
    ${reasonField(asked, 'deny', 'Reason, which the model is told')}
    <button class="button button-bad" type="submit" aria-describedby="asked-${asked.approvalId}">Deny</button>`,
  );
}

function answerForm(visit: Visit, asked: Awaiting): Html {
  const id = `answer-${asked.approvalId}`;
  return form(
    visit,
    asked,
    'answer',
    markup`<h4>Answer for the user</h4>
    <label class="label" for="${id}">Answer<textarea class="field" id="${id}" name="answer" rows="3" required></textarea></label>
    <button class="button button-main" type="submit" aria-describedby="asked-${asked.approvalId}">Answer</button>`,
  );
}

function succeededForm(visit: Visit, asked: Awaiting): Html {
  const id = `output-${asked.approvalId}`;
  return form(
    visit,
    asked,
    'succeeded',
    markup`<h4>It happened</h4>
    <label class="label" for="${id}">What the tool would have returned, as JSON<textarea class="field mono" id="${id}" name="output" rows="3" spellcheck="false" placeholder="null"></textarea></label>
    <button class="button button-main" type="submit" aria-describedby="asked-${asked.approvalId}">Settle as succeeded</button>`,
  );
}

function failedForm(visit: Visit, asked: Awaiting, title: string): Html {
  return form(
    visit,
    asked,
    'failed',
    markup`<h4>${title}</h4>
    ${reasonField(asked, 'failed', 'Reason, which the model is told')}
    <button class="button button-bad" type="submit" aria-describedby="asked-${asked.approvalId}">Settle as failed</button>`,
  );
}

function againForm(visit: Visit, asked: Awaiting): Html {
  return form(
    visit,
    asked,
    'runAgain',
    markup`<h4>Run it again</h4>
    <p class="hint">With the same idempotency key. If the first attempt took effect after all, only the receiver can tell by that key.</p>
    <button class="button" type="submit" aria-describedby="asked-${asked.approvalId}" data-confirm="Run the call again?">Run again</button>`,
  );
}

function byHand(visit: Visit, asked: Awaiting): Html {
  return markup`<details><summary>Somebody did it by hand</summary><div class="decide">${succeededForm(visit, asked)}${failedForm(visit, asked, 'It was not done')}</div></details>`;
}

function reasonField({ approvalId }: Awaiting, way: string, text: string): Html {
  const id = `reason-${way}-${approvalId}`;
  return markup`<label class="label" for="${id}">${text}<textarea class="field" id="${id}" name="reason" rows="2" required></textarea></label>`;
}

function form(visit: Visit, asked: Awaiting, way: string, fields: Html): Html {
  const { tenantId, sessionId, executionId, approvalId, digest } = asked;
  const hidden = { way, tenant: tenantId, session: sessionId, execution: executionId, approval: approvalId, digest };
  return markup`<form method="post" action="${visit.link('/decide')}">
    ${Object.entries(hidden).map(([name, value]) => markup`<input type="hidden" name="${name}" value="${value}">`)}
    ${fields}
  </form>`;
}
