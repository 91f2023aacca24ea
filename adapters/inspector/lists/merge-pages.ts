import type {
  PagedSession,
  SessionPageQuery,
  SessionPlace,
  SessionsOfPage,
} from '../../../persistence/page-sessions.ts';

/** One page made of those of several tenants. */
export interface MergedPage<Session> {
  /** Last changed first. */
  sessions: Session[];
  /** Places to go on from; `null` where there is nothing there. */
  newer: SessionPlace | null;
  older: SessionPlace | null;
  /** Whether the page ends where a look ended, and not with its last session. */
  isLookCut: boolean;
}

type Paged = Pick<PagedSession, 'place'>;

/**
 * The pages of several tenants, asked for from the same place, as one. Beyond the nearest place where one of them ended nothing is known of
 * that tenant, so the page ends there too: what lies beyond is of the next one, whoever it belongs to.
 */
export function mergePages<Session extends Paged>(
  pages: readonly (Pick<SessionsOfPage, 'lookedUpTo'> & { sessions: readonly Session[] })[],
  { from, limit }: { from: NonNullable<SessionPageQuery['from']> | null; limit: number },
): MergedPage<Session> {
  const isBack = from?.to === 'newer';
  const along = (a: SessionPlace, b: SessionPlace) => (isBack ? compare(b, a) : compare(a, b));
  const [end = null] = pages.flatMap(({ lookedUpTo }) => lookedUpTo ?? []).sort(along);
  const all = pages
    .flatMap(({ sessions }) => sessions)
    .filter(({ place }) => end === null || along(place, end) <= 0)
    .sort((a, b) => along(a.place, b.place));
  const shown = all.slice(0, limit);
  const last = shown.at(-1)?.place ?? null;
  const onward = all.length > shown.length ? last : end;
  const backward = from === null ? null : (shown[0]?.place ?? from.place);
  const isLookCut = onward !== null && (last === null || compare(onward, last) !== 0);
  return isBack
    ? { sessions: shown.reverse(), newer: onward, older: backward, isLookCut }
    : { sessions: shown, newer: backward, older: onward, isLookCut };
}

/** Last changed first, then by id, as the database orders them. */
function compare(a: SessionPlace, b: SessionPlace): number {
  const [one, other] = [BigInt(a.changedMicros), BigInt(b.changedMicros)];
  if (one !== other) return one < other ? 1 : -1;
  if (a.sessionId === b.sessionId) return 0;
  return a.sessionId < b.sessionId ? -1 : 1;
}
