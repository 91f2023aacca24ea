import type {
  ToolRecalled,
  ToolRecallQuery,
  ToolRemembered,
  TransactionalMemory,
} from '../../adapters/tools/memory.contract.ts';
import { TurnlockError } from '../../errors.ts';
import type { NewMemory } from '../../persistence/memory/new-memory.ts';
import type { ExecutionRow } from '../../persistence/row-changes.ts';
import type { DriveContext } from '../drive-context.ts';

/** What one act of a transactional tool remembers: kept here, and stored by the commit that settles the call, or not at all. */
export class RememberedInCommit implements TransactionalMemory {
  readonly #drive: DriveContext;
  readonly #execution: ExecutionRow;
  readonly #memories: NewMemory[] = [];
  #isOver = false;

  constructor(drive: DriveContext, execution: ExecutionRow) {
    this.#drive = drive;
    this.#execution = execution;
  }

  /** Refused by the runtime: it would wait for the lock that this tool's commit holds. */
  async recall(query: ToolRecallQuery): Promise<ToolRecalled[]> {
    return await this.#drive.memory.recall(query);
  }

  async remember(memory: ToolRemembered): Promise<{ memoryId: string }> {
    const { toolName, turnId } = this.#execution;
    if (this.#isOver) {
      const message = `memory was given too late: ${toolName} (wanted before execute ends)`;
      throw new TurnlockError('TRANSACTION_OVER', { message });
    }
    const made = { ...this.#drive.memory.checked(memory), turnId };
    this.#memories.push(made);
    return { memoryId: made.memoryId };
  }

  /** What was remembered; from now on nothing more is taken. */
  end(): NewMemory[] {
    this.#isOver = true;
    return this.#memories;
  }
}
