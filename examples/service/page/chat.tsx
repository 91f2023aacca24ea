import { useChat } from '@ai-sdk/react';
import { DefaultChatTransport, lastAssistantMessageIsCompleteWithApprovalResponses, type UIMessage } from 'ai';
import { type FormEvent, useEffect, useRef, useState } from 'react';
import { Message } from './message.tsx';

const SUGGESTIONS = [
  'Order 42 arrived broken. Please refund it.',
  'Refund order 44, please.',
  'Refund order 43 in cash, please.',
];

/** A conversation: what was said so far is asked for first, and what is under way is followed. */
export function Chat({ id }: { id: string }) {
  const [before, setBefore] = useState<UIMessage[] | null>(null);
  useEffect(() => {
    const asked = new AbortController();
    void fetch(`/api/chat/${id}/messages`, { signal: asked.signal })
      .then((response) => (response.ok ? response.json() : []))
      .then(setBefore, () => undefined);
    return () => asked.abort();
  }, [id]);
  return <main className="chat">{before !== null && <Conversation id={id} before={before} />}</main>;
}

function Conversation({ id, before }: { id: string; before: UIMessage[] }) {
  const { messages, sendMessage, addToolApprovalResponse, status, error } = useChat({
    id,
    messages: before,
    resume: before.length > 0,
    transport: new DefaultChatTransport({ api: '/api/chat' }),
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
  });
  const isBusy = status === 'submitted' || status === 'streaming';
  const end = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (messages.length > 0) end.current?.scrollIntoView({ block: 'end' });
  }, [messages]);
  const decide = (approvalId: string, approved: boolean) => void addToolApprovalResponse({ id: approvalId, approved });
  const send = (text: string) => void sendMessage({ text });
  return (
    <>
      <div className="messages" role="log" aria-label="Conversation" aria-busy={isBusy}>
        {messages.map((message) => (
          <Message key={message.id} message={message} decide={decide} />
        ))}
        {isBusy && <p className="muted busy">The assistant is at it.</p>}
        {error && (
          <p className="error" role="alert">
            {error.message}
          </p>
        )}
        <div ref={end} />
      </div>
      {messages.length === 0 && <Suggestions send={send} />}
      <Composer send={send} />
    </>
  );
}

function Suggestions({ send }: { send: (text: string) => void }) {
  return (
    <ul className="suggestions" aria-label="Suggestions">
      {SUGGESTIONS.map((text) => (
        <li key={text}>
          <button type="button" onClick={() => send(text)}>
            {text}
          </button>
        </li>
      ))}
    </ul>
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
