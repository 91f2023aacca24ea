import type { PGlite } from '@electric-sql/pglite';
import pg from 'pg';
import type { ToolQuery, ToolQueryResult } from '../../persistence/database.contract.ts';
import { readDataRows } from './data-rows.ts';
import { columnReader } from './read-column.ts';
import { toParameterText } from './to-parameter-text.ts';
import type { Wire, WireAnswer } from './wire.contract.ts';

/** The part of the package that puts messages of PostgreSQL's protocol together. */
export type Protocol = typeof import('@electric-sql/pglite')['protocol'];

/** PGlite's answer, message by message, as far as it is looked at. */
interface Message {
  readonly name: string;
  readonly text?: string;
  readonly severity?: string;
  readonly fields?: readonly unknown[]; // of a row description
}

/**
 * PGlite spoken to in PostgreSQL's protocol and not by its own functions: they hide command tags, take one statement at a time and read
 * values in their own way. What comes back is what a server would have given.
 */
export class PgliteWire implements Wire {
  readonly #pglite: PGlite;
  readonly #protocol: Protocol;

  constructor(pglite: PGlite, protocol: Protocol) {
    this.#pglite = pglite;
    this.#protocol = protocol;
  }

  async send(sql: string, values?: readonly unknown[]): Promise<WireAnswer> {
    const request = values?.length ? this.#extended(sql, values) : this.#protocol.serialize.query(sql);
    const { messages, data } = await this.#pglite.execProtocol(request, { throwOnError: false });
    return readAnswer(messages as unknown as Message[], readDataRows(data));
  }

  async query({ text, values = [], rowMode, types = pg.types }: ToolQuery): Promise<ToolQueryResult> {
    const request = this.#extended(text, values.map(toArrayText));
    const { messages, data } = await this.#pglite.execProtocol(request, { throwOnError: false });
    const read = (oid: number) => types.getTypeParser(oid, 'text' as never) as (text: string) => unknown;
    return toToolResult(messages as unknown as Message[], readDataRows(data), read, rowMode === 'array');
  }

  #extended(sql: string, values: readonly unknown[]): Uint8Array {
    const { parse, bind, describe, execute, sync } = this.#protocol.serialize;
    const parts = [
      parse({ text: sql }),
      bind({ values: values.map(toParameterText) }),
      describe({ type: 'P' }),
      execute({}),
      sync(),
    ];
    return Buffer.concat(parts);
  }
}

function readAnswer(messages: readonly Message[], rows: readonly (string | null)[][]): WireAnswer {
  let columns: readonly { name: string; read: (text: string) => unknown }[] = [];
  let reading: Record<string, unknown>[] = [];
  let answer: WireAnswer = { rows: [], command: '', rowCount: null, warned: false };
  let warned = false;
  let row = 0;
  for (const message of messages) {
    if (message.name === 'error') throw message;
    if (message.name === 'notice' && message.severity === 'WARNING') warned = true;
    if (message.name === 'rowDescription') {
      columns = (message.fields as { name: string; dataTypeID: number }[]).map(({ name, dataTypeID }) => ({
        name,
        read: columnReader(dataTypeID),
      }));
    }
    if (message.name === 'dataRow') {
      const fields = rows[row++] ?? [];
      reading.push(Object.fromEntries(columns.map(({ name, read }, index) => [name, toValue(fields[index], read)])));
    }
    if (message.name === 'commandComplete') {
      const [command = '', ...counts] = message.text?.split(' ') ?? [];
      const count = counts.at(-1);
      answer = { rows: reading, command, rowCount: count === undefined ? null : Number(count), warned };
      columns = [];
      reading = [];
    }
  }
  return { ...answer, warned };
}

function toValue(text: string | null | undefined, read: (text: string) => unknown): unknown {
  return text === null || text === undefined ? null : read(text);
}

function toToolResult(
  messages: readonly Message[],
  rows: readonly (string | null)[][],
  readerOf: (oid: number) => (text: string) => unknown,
  asArrays: boolean,
): ToolQueryResult {
  const failed = messages.find(({ name }) => name === 'error');
  if (failed !== undefined) throw failed;
  const described = messages.find(({ name }) => name === 'rowDescription')?.fields ?? [];
  const fields = (described as { name: string; dataTypeID: number }[]).map(({ name, dataTypeID }) => ({
    name,
    dataTypeID,
  }));
  const readers = fields.map(({ dataTypeID }) => readerOf(dataTypeID));
  const read = (row: (string | null)[]) => row.map((text, column) => toValue(text, readers[column] as never));
  const [command = '', ...counts] = messages.find(({ name }) => name === 'commandComplete')?.text?.split(' ') ?? [];
  const count = counts.at(-1);
  return {
    rows: rows.map((row) => {
      const values = read(row);
      return asArrays ? values : Object.fromEntries(fields.map(({ name }, column) => [name, values[column]]));
    }),
    rowCount: count === undefined ? null : Number(count),
    command,
    oid: 0,
    fields,
  };
}

/** A list is an array of PostgreSQL, as node-postgres has it; everything else is left to {@link toParameterText}. */
function toArrayText(value: unknown): unknown {
  return Array.isArray(value) ? arrayLiteral(value) : value;
}

function arrayLiteral(list: readonly unknown[]): string {
  const parts = list.map((element) => {
    if (Array.isArray(element)) return arrayLiteral(element);
    const text = toParameterText(element);
    return text === null ? 'NULL' : `"${text.replaceAll(/["\\]/g, '\\$&')}"`;
  });
  return `{${parts.join(',')}}`;
}
