import type { Queryable, QueryConfig } from '../adapters/tools/tool.contract.ts';
import type { ToolTransaction } from '../persistence/database.contract.ts';

/** The transaction of a tool in the shape of a client of node-postgres, which is what wraps of other libraries look for. */
export function toQueryable(transaction: ToolTransaction): Queryable {
  return {
    query: (given: string | QueryConfig, values?: readonly unknown[]) => {
      const config = typeof given === 'string' ? { text: given } : given;
      const { text, rowMode, types } = config;
      const query = { text, values: [...(values ?? config.values ?? [])] };
      return transaction.query({ ...query, ...(rowMode ? { rowMode } : {}), ...(types ? { types } : {}) }) as never;
    },
    release: () => undefined,
  };
}
