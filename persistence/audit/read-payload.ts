import { z } from 'zod';

const digests = z.record(z.string(), z.string()).optional();

/** The form of payloads in transitions of format version 1. What a later build adds to it is let through. */
const payloadForm = z.looseObject({
  event: z.looseObject({ type: z.string() }),
  contentDigest: z.string().nullable(),
  turns: z.array(z.int().min(0)),
  outcomes: z.array(z.guid()),
  holder: z.string().nullable(),
  messageId: z.string().nullable(),
});

/** That of format version 2: with digests of the rows that the commit wrote. */
const withRows = payloadForm.extend({
  rows: z.looseObject({
    session: z.string(),
    turns: z.string().optional(),
    modelCalls: digests,
    executions: digests,
    rounds: digests,
  }),
});

/** Whether a payload can be read as what its format version says. */
export function isReadablePayload(payload: unknown, formatVersion: number): boolean {
  return (formatVersion === 1 ? payloadForm : withRows).safeParse(payload).success;
}
