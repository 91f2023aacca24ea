import { useChat } from '@ai-sdk/react';
import { DefaultChatTransport, lastAssistantMessageIsCompleteWithApprovalResponses, type UIMessage } from 'ai';
import { type FormEvent, useEffect, useEffectEvent, useRef, useState } from 'react';
import { isUndecided, Message } from './message.tsx';

const SUGGESTIONS = [
  'Order 42 arrived broken. Please refund it.',
  'Refund order 44, please.',
  'Refund order 43 in cash, please.',
];

/** Milliseconds between two looks at a conversation that waits for a person: somebody else may decide. */
const LOOK_MS = 2_000;

/** What the service says of a conversation. */
interface Standing {
  state: string;
  messages: UIMessage[];
}

const NOTHING: Standing = { state: 'IDLE', messages: [] };
const isWaiting = ({ state }: Standing) => state === 'AWAITING_INPUT';
const isUnderWay = ({ state }: Standing) => state === 'PLANNING' || state === 'EXECUTING_TOOL';

/** Asks for all that was said. */
async function lookAt(id: string): Promise<Standing> {
  const response = await fetch(`/api/chat/${id}`);
  if (!response.ok) throw new Error(`The service answered ${response.status}.`);
  return (await response.json()) as Standing;
}

/** A conversation: what was said so far is asked for first. */
export function Chat({ id, isNew }: { id: string; isNew: boolean }) {
  const [before, setBefore] = useState<Standing | null>(isNew ? NOTHING : null);
  const [failure, setFailure] = useState<string | null>(null);
  useEffect(() => {
    if (!isNew) lookAt(id).then(setBefore, (error: Error) => setFailure(error.message));
  }, [id, isNew]);
  return (
    <main className="chat">
      {failure !== null && <Failure text={failure} />}
      {before !== null && <Conversation id={id} before={before} />}
    </main>
  );
}

function Conversation({ id, before }: { id: string; before: Standing }) {
  const { messages, sendMessage, setMessages, addToolApprovalResponse, resumeStream, status, error } = useChat({
    id,
    // What is under way is told from its beginning.
    messages: isUnderWay(before) ? withoutLastAnswer(before.messages) : before.messages,
    resume: isUnderWay(before),
    transport: new DefaultChatTransport({ api: '/api/chat' }),
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
    onError: () => void lookAt(id).then(show, () => undefined), // what was refused has not happened
  });
  /** Puts what the service says in the place of what the page thinks. */
  function show(now: Standing): void {
    setMessages(isUnderWay(now) ? withoutLastAnswer(now.messages) : now.messages);
    if (isUnderWay(now)) void resumeStream();
  }
  const isBusy = status === 'submitted' || status === 'streaming';
  const waits = !isBusy && waitsForPerson(messages);
  const look = useEffectEvent(async () => {
    const now = await lookAt(id).catch(() => null); // it is asked again in a moment
    if (now !== null && !isWaiting(now)) show(now);
  });
  useEffect(() => {
    if (!waits) return;
    const timer = setInterval(() => void look(), LOOK_MS);
    return () => clearInterval(timer);
  }, [waits]);
  const end = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (messages.length > 0) end.current?.scrollIntoView({ block: 'end' });
  }, [messages]);
  const decide = (approvalId: string, approved: boolean) => void addToolApprovalResponse({ id: approvalId, approved });
  const send = (text: string) => {
    history.replaceState(null, '', `/c/${id}`); // from now on a reload finds the conversation
    void sendMessage({ text });
  };
  return (
    <>
      <div className="messages" role="log" aria-label="Conversation" aria-busy={isBusy}>
        {messages.length === 0 && <Beginning send={send} />}
        {messages.map((message) => (
          <Message key={message.id} message={message} decide={decide} />
        ))}
        {isBusy && <p className="muted busy">The assistant is at it.</p>}
        {error !== undefined && <Failure text={sayFailure(error)} />}
        <div ref={end} />
      </div>
      <Composer send={send} />
    </>
  );
}

function withoutLastAnswer(messages: UIMessage[]): UIMessage[] {
  return messages.at(-1)?.role === 'assistant' ? messages.slice(0, -1) : messages;
}

/** Whether a call of the last answer is to be decided, or nothing says how it ended. */
function waitsForPerson(messages: UIMessage[]): boolean {
  const parts = messages.at(-1)?.parts ?? [];
  return parts.some((part) =>
    part.type === 'data-unknownOutcome'
      ? (part.data as { settledAs: string | null }).settledAs === null
      : part.type === 'data-awaitingOthers'
        ? isUndecided(parts, part.id)
        : 'state' in part && part.state === 'approval-requested',
  );
}

/** The service says what is wrong as problem details, which the SDK hands on as text. */
function sayFailure({ message }: Error): string {
  try {
    const { detail, hint } = JSON.parse(message) as { detail: string; hint: string };
    return `${detail} ${hint}`;
  } catch {
    return message;
  }
}

function Failure({ text }: { text: string }) {
  return (
    <p className="error" role="alert">
      {text}
    </p>
  );
}

function Beginning({ send }: { send: (text: string) => void }) {
  return (
    <section className="beginning" aria-label="Suggestions">
      <h2>What is it about?</h2>
      <p className="muted">The assistant looks orders up and pays them back. Above 100 euros a manager decides.</p>
      <ul>
        {SUGGESTIONS.map((text) => (
          <li key={text}>
            <button type="button" onClick={() => send(text)}>
              {text}
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Composer({ send }: { send: (text: string) => void }) {
  const [text, setText] = useState('');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (text.trim() === '') return;
    send(text);
    setText('');
  };
  return (
    <form className="composer" onSubmit={submit}>
      <label htmlFor="message" className="unseen">
        Message
      </label>
      <input
        id="message"
        autoComplete="off"
        value={text}
        onChange={({ target }) => setText(target.value)}
        placeholder="Write to the assistant"
      />
      <button type="submit" className="main">
        Send
      </button>
    </form>
  );
}
