import { z } from 'zod';

/** The output of the kit's agent, where a plan has a last reply. */
export const finalOutput = z.object({ isDone: z.literal(true) });

/** A reply that is it. */
export const FINAL_REPLY = JSON.stringify({ isDone: true });
