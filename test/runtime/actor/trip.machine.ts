import { assign, setup } from 'xstate';
import type { SessionActorInput, SessionLogic } from '../../../index.ts';

/** What one trip is. */
export interface Trip {
  tripId: string;
  /** Names of the agents that book. */
  flight: string;
  hotel: string;
}

interface Booked extends Trip {
  replies: { [part: string]: string | null };
}

const inputOf = (tripId: string, agent: string, part: string) => ({
  agent,
  tenantId: 'tenant',
  userId: 'user',
  externalId: `${tripId} ${part}`,
  message: { text: `book the ${part}`, messageId: 'book' },
});

/** A machine of the program's own: a trip is booked once two agents have done their parts, side by side. */
export function tripMachine(session: SessionLogic<SessionActorInput>) {
  return setup({ types: {} as { context: Booked; input: Trip }, actors: { session } }).createMachine({
    id: 'trip',
    context: ({ input }) => ({ ...input, replies: {} }),
    type: 'parallel',
    states: {
      flight: {
        initial: 'booking',
        states: {
          booking: {
            invoke: {
              id: 'flight',
              src: 'session',
              input: ({ context }) => inputOf(context.tripId, context.flight, 'flight'),
              onDone: {
                target: 'booked',
                actions: assign({
                  replies: ({ context, event }) => ({ ...context.replies, flight: event.output?.reply ?? null }),
                }),
              },
            },
          },
          booked: { type: 'final' },
        },
      },
      hotel: {
        initial: 'booking',
        states: {
          booking: {
            invoke: {
              id: 'hotel',
              src: 'session',
              input: ({ context }) => inputOf(context.tripId, context.hotel, 'hotel'),
              onDone: {
                target: 'booked',
                actions: assign({
                  replies: ({ context, event }) => ({ ...context.replies, hotel: event.output?.reply ?? null }),
                }),
              },
            },
          },
          booked: { type: 'final' },
        },
      },
    },
  });
}
