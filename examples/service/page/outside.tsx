import type { LedgerEntry, Worker } from './desk.tsx';

/** A line of the ledger in words. */
function wordsOf({ type, orderId, cents, refundId }: LedgerEntry): string {
  if (type === 'asked') return `is asked to pay back order ${orderId}, ${(cents / 100).toFixed(2)} EUR`;
  if (type === 'booked') return `paid back order ${orderId}: ${refundId}`;
  return `knows the key of ${refundId}: nothing is paid again`;
}

/** The processes, which may be killed, and what the payments service really did. */
export function Outside({ workers, ledger }: { workers: readonly Worker[]; ledger: readonly LedgerEntry[] }) {
  const booked = ledger.filter(({ type }) => type === 'booked').length;
  return (
    <aside aria-label="Outside">
      <section className="card">
        <h2>Workers</h2>
        <p className="muted">One of them drives the conversation. Kill it while it refunds: the other one goes on.</p>
        <ul className="workers">
          {workers.map((worker) => (
            <WorkerLine key={worker.name} worker={worker} />
          ))}
        </ul>
      </section>
      <section className="card">
        <h2>The payments service</h2>
        <p className="muted">
          {ledger.length === 0 ? 'Its ledger is empty.' : `It booked ${booked} ${booked === 1 ? 'refund' : 'refunds'}.`}
        </p>
        <ol className="ledger" aria-label="Ledger">
          {ledger.map((entry) => (
            <li key={`${entry.at} ${entry.type} ${entry.orderId}`} className={entry.type}>
              <span>{wordsOf(entry)}</span>
              <span className="muted">
                {new Date(entry.at).toLocaleTimeString('en-GB')}, {entry.worker}
              </span>
            </li>
          ))}
        </ol>
      </section>
    </aside>
  );
}

function WorkerLine({ worker: { name, pid } }: { worker: Worker }) {
  const kill = () => void fetch(`/workers/${name}/kill`, { method: 'POST' });
  return (
    <li>
      <span>
        <strong>{name}</strong>
        <span className="muted">{pid === null ? ' dead, is started again' : ` process ${pid}`}</span>
      </span>
      <button type="button" onClick={kill} disabled={pid === null} aria-label={`kill -9 ${name}`}>
        kill -9
      </button>
    </li>
  );
}
