import { useCallback, useEffect, useState } from 'react';
import { Chat } from './chat.tsx';
import { Outside } from './outside.tsx';
import { SignIn } from './sign-in.tsx';

/** A worker, as the page is told of it. */
export interface Worker {
  name: string;
  /** `null` while there is none: it is started again. */
  pid: number | null;
}

/** A line of the ledger of the payments service. */
export interface LedgerEntry {
  at: string;
  type: 'asked' | 'booked' | 'known';
  orderId: string;
  cents: number;
  refundId: string | null;
  worker: string;
}

/** What the page shows around the conversation. */
export interface Surroundings {
  user: { userId: string; name: string; tenantId: string; roles: readonly string[] } | null;
  users: readonly { userId: string; name: string; tenantId: string; roles: readonly string[] }[];
  workers: readonly Worker[];
  ledger: readonly LedgerEntry[];
}

/** Milliseconds between two looks at workers and ledger. */
const LOOK_MS = 1_000;

/** The whole page: a conversation, and what happens outside meanwhile. */
export function Desk() {
  const [{ id, isNew }] = useState(conversationOfPage);
  const [around, setAround] = useState<Surroundings | null>(null);
  const look = useCallback(async () => {
    const response = await fetch('/desk').catch(() => null); // it is asked again in a moment
    if (response?.ok) setAround((await response.json()) as Surroundings);
  }, []);
  useEffect(() => {
    void look();
    const timer = setInterval(() => document.hidden || void look(), LOOK_MS);
    return () => clearInterval(timer);
  }, [look]);
  if (around === null) return null;
  const { user } = around;
  if (user === null) return <SignIn users={around.users} />;
  return (
    <>
      <header className="bar">
        <h1>Support desk</h1>
        <nav aria-label="Pages">
          <a href="/">New conversation</a>
          <a href="/inspector">Inspector</a>
        </nav>
        <form method="post" action="/sign-in" className="who">
          <span>
            {user.name}, {user.roles.join(', ') || 'clerk'} at {user.tenantId}
          </span>
          <button type="submit" name="user" value="">
            Sign out
          </button>
        </form>
      </header>
      <div className="columns">
        <Chat id={id} isNew={isNew} />
        <Outside workers={around.workers} ledger={around.ledger} />
      </div>
    </>
  );
}

/** The conversation that the address names, or a new one. */
function conversationOfPage(): { id: string; isNew: boolean } {
  const [, named] = /^\/c\/([\w-]{1,64})$/.exec(location.pathname) ?? [];
  return { id: named ?? crypto.randomUUID(), isNew: named === undefined };
}
