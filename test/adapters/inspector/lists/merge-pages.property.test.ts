import fc from 'fast-check';
import { expect, test } from 'vitest';
import { mergePages } from '../../../../adapters/inspector/lists/merge-pages.ts';
import type { SessionPlace } from '../../../../persistence/page-sessions.ts';
import { runs } from '../../../support/property.ts';

interface One {
  place: SessionPlace;
  tenant: number;
  /** Whether the look is for it. */
  fits: boolean;
}

type From = { place: SessionPlace; to: 'older' | 'newer' } | null;

const sessions = fc
  .uniqueArray(fc.record({ tenant: fc.nat(2), micros: fc.nat(6), id: fc.nat(999), fits: fc.boolean() }), {
    selector: ({ id }) => id,
    maxLength: 40,
  })
  .map((all) =>
    all
      .map(({ tenant, micros, id, fits }): One => {
        return { tenant, fits, place: { changedMicros: String(micros), sessionId: String(id).padStart(3, '0') } };
      })
      .sort((a, b) => (isBefore(a.place, b.place) ? -1 : 1)),
  );

function isBefore(a: SessionPlace, b: SessionPlace): boolean {
  const [one, other] = [Number(a.changedMicros), Number(b.changedMicros)];
  return one === other ? a.sessionId < b.sessionId : one > other;
}

/** What one tenant answers: it compares `window` of its sessions, and shows `limit` of those that fit. */
function pageOf(own: readonly One[], from: From, { limit, window }: { limit: number; window: number }) {
  const isBack = from?.to === 'newer';
  const beyond = own.filter(
    ({ place }) => from === null || (isBack ? isBefore(place, from.place) : isBefore(from.place, place)),
  );
  if (isBack) beyond.reverse();
  const looked = beyond.slice(0, window);
  const all = looked.filter(({ fits }) => fits);
  const shown = all.slice(0, limit);
  const end = all.length > limit ? shown.at(-1) : beyond.length > window ? looked.at(-1) : undefined;
  return { sessions: isBack ? shown.toReversed() : shown, lookedUpTo: end?.place ?? null };
}

test('pages of several tenants hold each session that fits once and in order, there and back, wherever looks end', () => {
  fc.assert(
    fc.property(sessions, fc.integer({ min: 1, max: 5 }), fc.integer({ min: 0, max: 5 }), (all, limit, more) => {
      const read = (from: From) => {
        const pages = [0, 1, 2].map((tenant) =>
          pageOf(
            all.filter((one) => one.tenant === tenant),
            from,
            { limit, window: limit + more },
          ),
        );
        return mergePages(pages, { from, limit });
      };
      const wanted = all.filter(({ fits }) => fits);
      const forth = [read(null)];
      for (let at = forth[0]?.older ?? null; at !== null; at = forth.at(-1)?.older ?? null) {
        forth.push(read({ place: at, to: 'older' }));
      }
      expect(forth.flatMap((page) => page.sessions)).toEqual(wanted);
      for (const page of forth) expect(page.sessions.length).toBeLessThanOrEqual(limit);

      const end: SessionPlace = { changedMicros: '-1', sessionId: '000' };
      const back = [read({ place: end, to: 'newer' })];
      for (let at = back[0]?.newer ?? null; at !== null; at = back.at(-1)?.newer ?? null) {
        back.push(read({ place: at, to: 'newer' }));
      }
      expect(back.toReversed().flatMap((page) => page.sessions)).toEqual(wanted);
    }),
    runs(200),
  );
});
