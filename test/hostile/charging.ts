import { expect } from 'vitest';
import type { Agent, Runtime, Session } from '../../index.ts';
import { checkSession } from '../runtime/crash-property/facts-of.ts';
import type { RuntimeDatabase } from '../support/runtime-database.ts';
import { scriptedAgent } from '../support/runtime-open.ts';
import { call, eachRun, looseTool } from '../support/runtime-script.ts';

/** An agent that charges once in each run, and what it did to the world: the session of each charge. */
export interface Charging {
  agent: Agent;
  charges: string[];
}

/** An agent whose one tool may not be repeated: whoever does so is seen. */
export function chargingAgent(name?: string): Charging {
  const charges: string[] = [];
  const charge = looseTool(
    'charge',
    (_, { sessionId }) => {
      charges.push(sessionId);
      return 'charged';
    },
    { effect: 'nonRepeatable' },
  );
  return { agent: scriptedAgent(eachRun({ toolCalls: [call('charge')] }, 'done'), [charge], name), charges };
}

/** Whatever happened meanwhile: the one run of each session is there as a whole, once, and the act happened once. */
export async function expectCharged(
  database: RuntimeDatabase,
  reader: Runtime,
  charges: readonly string[],
  sessions: readonly Pick<Session, 'sessionId'>[],
): Promise<void> {
  for (const { sessionId } of sessions) {
    const session = await reader.session({ tenantId: 'tenant', sessionId });
    const contents = (await session.history()).map(({ content }) => content);
    expect(contents, sessionId).toEqual(['go', '', 'charged', 'done']);
    expect(
      charges.filter((charge) => charge === sessionId),
      sessionId,
    ).toHaveLength(1);
    await checkSession(database, session);
  }
}
