import type { DriverException } from '@mikro-orm/core';
import { PostgreSqlDriver } from '@mikro-orm/postgresql';
import { isTurnlockError } from '../../errors.ts';

/** MikroORM's driver, which would copy errors of ours into an exception of its own and lose what they are. */
export class OwnDriver extends PostgreSqlDriver {
  override convertException(error: Error): DriverException {
    return isTurnlockError(error) ? (error as Error as DriverException) : super.convertException(error);
  }
}
