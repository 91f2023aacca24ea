import type { EntitySchema } from '@mikro-orm/core';
import { AgentApproval } from './agent-approval.entity.ts';
import { AgentControl } from './agent-control.entity.ts';
import { AgentIdempotencyClaim } from './agent-idempotency-claim.entity.ts';
import { AgentInbox } from './agent-inbox.entity.ts';
import { AgentMemory } from './agent-memory.entity.ts';
import { AgentMemoryTask } from './agent-memory-task.entity.ts';
import { AgentModelCall } from './agent-model-call.entity.ts';
import { AgentOperatorRead } from './agent-operator-read.entity.ts';
import { AgentSession } from './agent-session.entity.ts';
import { AgentToolEvidence } from './agent-tool-evidence.entity.ts';
import { AgentToolExecution } from './agent-tool-execution.entity.ts';
import { AgentToolVersion } from './agent-tool-version.entity.ts';
import { AgentTransition } from './agent-transition.entity.ts';
import { AgentTransitionPayload } from './agent-transition-payload.entity.ts';
import { AgentTurn } from './agent-turn.entity.ts';
import { TurnlockClock } from './turnlock-clock.entity.ts';

/** Every entity of ours, for MikroORM's `entities`. */
export const allEntities: EntitySchema[] = [
  AgentSession,
  AgentTurn,
  AgentToolExecution,
  AgentTransition,
  AgentTransitionPayload,
  AgentToolEvidence,
  AgentInbox,
  AgentApproval,
  AgentModelCall,
  AgentToolVersion,
  AgentControl,
  AgentIdempotencyClaim,
  AgentMemory,
  AgentMemoryTask,
  AgentOperatorRead,
  TurnlockClock,
];
