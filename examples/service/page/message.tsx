import { type DynamicToolUIPart, getToolName, isToolUIPart, type ToolUIPart, type UIMessage } from 'ai';

type ToolPart = ToolUIPart | DynamicToolUIPart;
type Decide = (approvalId: string, approved: boolean) => void;

/** What the service says of a call that was started and of which nothing says how it ended. */
interface UnknownOutcome {
  toolName: string;
  settledAs: string | null;
}

const STATES: Partial<Record<ToolPart['state'], string>> = {
  'input-streaming': 'is being written',
  'input-available': 'is under way',
  'approval-requested': 'waits for a person',
  'approval-responded': 'is decided',
  'output-available': 'succeeded',
  'output-error': 'failed',
  'output-denied': 'was denied',
};

/** One message: what was said, and each call of a tool with what became of it. */
export function Message({ message: { role, parts }, decide }: { message: UIMessage; decide: Decide }) {
  return (
    <article className={`message ${role}`} aria-label={role === 'user' ? 'You' : 'Assistant'}>
      {parts.map((part, place) => {
        // biome-ignore lint/suspicious/noArrayIndexKey: parts are only ever added at the end
        if (part.type === 'text') return part.text === '' ? null : <p key={`text ${place}`}>{part.text}</p>;
        if (isToolUIPart(part)) return <ToolCall key={part.toolCallId} part={part} decide={decide} />;
        if (part.type === 'data-unknownOutcome')
          return <Unknown key={part.id ?? place} outcome={part.data as UnknownOutcome} />;
        if (part.type === 'data-awaitingOthers' && isUndecided(parts, part.id))
          return <Others key={part.id ?? place} />;
        return null;
      })}
    </article>
  );
}

function ToolCall({ part, decide }: { part: ToolPart; decide: Decide }) {
  const name = getToolName(part);
  return (
    <section className={`call ${part.state}`} aria-label={`Call of ${name}`}>
      <p>
        <code>{name}</code> <span className="state">{STATES[part.state] ?? part.state}</span>
      </p>
      <dl>
        {Object.entries((part.input ?? {}) as object).map(([key, value]) => (
          <div key={key}>
            <dt>{key}</dt>
            <dd>{typeof value === 'string' ? value : JSON.stringify(value)}</dd>
          </div>
        ))}
      </dl>
      {part.state === 'output-available' && <pre>{JSON.stringify(part.output)}</pre>}
      {part.state === 'output-error' && <pre>{part.errorText}</pre>}
      {part.state === 'approval-requested' && (
        <div className="decision">
          {part.approval.requestReason !== undefined && <p>{part.approval.requestReason}</p>}
          <button type="button" className="main" onClick={() => decide(part.approval.id, true)}>
            Approve
          </button>
          <button type="button" onClick={() => decide(part.approval.id, false)}>
            Deny
          </button>
        </div>
      )}
    </section>
  );
}

/** Whether nobody has decided yet about the call that waits for somebody else. */
export function isUndecided(parts: UIMessage['parts'], executionId: string | undefined): boolean {
  return parts.some(
    (part) => isToolUIPart(part) && part.toolCallId === executionId && part.state === 'input-available',
  );
}

function Others() {
  return <p className="unknown">Waits for somebody who may approve it.</p>;
}

function Unknown({ outcome: { toolName, settledAs } }: { outcome: UnknownOutcome }) {
  if (settledAs !== null) return <p className="muted">A person has said how it ended: {settledAs}.</p>;
  return (
    <p className="unknown">
      Nobody knows whether <code>{toolName}</code> happened. Look it up, and settle it{' '}
      <a href="/inspector/awaiting">in the inspector</a>.
    </p>
  );
}
