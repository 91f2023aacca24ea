import { TurnlockError } from '../../../errors.ts';
import { checkUuid } from '../../../persistence/values/check-uuid.ts';
import { checkTenant } from '../../../runtime/check-query.ts';
import type { Viewer } from '../viewer.ts';

/** What a form asks for. */
export type Way =
  | { way: 'approve'; params: unknown }
  | { way: 'deny' | 'failed'; reason: string }
  | { way: 'answer'; answer: string }
  | { way: 'succeeded'; output: unknown }
  | { way: 'runAgain' };

/** A decision as a form sent it. */
export interface SentDecision {
  tenantId: string;
  sessionId: string;
  executionId: string;
  approvalId: string;
  /** Digest of the params that were shown. */
  digest: string;
  decision: Way;
}

/** Reads a form of {@link decideForms}. @throws OPTIONS_INVALID, VALUE_INVALID, VALUE_TOO_LARGE. */
export function readDecision(form: URLSearchParams, viewer: Viewer): SentDecision {
  const text = (name: string) => form.get(name) ?? '';
  return {
    tenantId: viewer.tenantId ?? checkTenant(text('tenant')),
    sessionId: checkUuid(text('session'), 'session'),
    executionId: checkUuid(text('execution'), 'execution'),
    approvalId: checkUuid(text('approval'), 'approval'),
    digest: text('digest'),
    decision: readWay(text('way'), text),
  };
}

function readWay(way: string, text: (name: string) => string): Way {
  switch (way) {
    case 'approve':
      return { way, params: readJson(text('params'), 'params') };
    case 'deny':
    case 'failed':
      return { way, reason: linesOf(text('reason')) };
    case 'answer':
      return { way, answer: linesOf(text('answer')) };
    case 'succeeded':
      return { way, output: readJson(text('output'), 'output') };
    case 'runAgain':
      return { way };
    default:
      throw new TurnlockError('OPTIONS_INVALID', { message: 'form not accepted: way (wanted one of this page)' });
  }
}

/** JSON of a field; `undefined` where it was left empty. */
function readJson(text: string, name: string): unknown {
  if (text.trim() === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    throw new TurnlockError('OPTIONS_INVALID', {
      message: `form not accepted: ${name} (found what is no JSON, wanted JSON)`,
      hint: `Go back and correct it. Text stands in quotes, as in "done".`,
    });
  }
}

/** Browsers send line ends of forms as CRLF. */
function linesOf(text: string): string {
  return text.replace(/\r\n/g, '\n');
}
