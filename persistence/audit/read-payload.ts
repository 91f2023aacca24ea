import { z } from 'zod';

/** The form of payloads in transitions of format version 1. What a later build adds to it is let through. */
const payloadForm = z.looseObject({
  event: z.looseObject({ type: z.string() }),
  contentDigest: z.string().nullable(),
  turns: z.array(z.int().min(0)),
  outcomes: z.array(z.guid()),
  holder: z.string().nullable(),
  messageId: z.string().nullable(),
});

/** Whether a payload can be read as what its format version says. */
export function isReadablePayload(payload: unknown): boolean {
  return payloadForm.safeParse(payload).success;
}
