import type { Surroundings } from './desk.tsx';

/** Whoever is chosen is believed: it stands in for the sign-in that your service has. */
export function SignIn({ users }: { users: Surroundings['users'] }) {
  return (
    <main className="sign-in">
      <h1>Support desk</h1>
      <p>Who are you? Here everybody is believed; your service has a sign-in of its own.</p>
      <form method="post" action="/sign-in">
        {users.map(({ userId, name, tenantId, roles }) => (
          <button key={userId} type="submit" name="user" value={userId} className="user">
            <strong>{name}</strong>
            <span>
              {roles.join(', ') || 'clerk'} at {tenantId}
            </span>
          </button>
        ))}
      </form>
    </main>
  );
}
