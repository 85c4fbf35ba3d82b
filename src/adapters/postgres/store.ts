// The store on Postgres.

import type { JsonObject } from '../../jsonrpc/message.js';
import { checkKey } from '../../state/changes.js';
import type {
  ClaimOptions,
  ItemsOptions,
  Lease,
  ListItem,
  PageOptions,
  StoreChange,
  StoreEntry,
  Written,
} from '../../state/store.js';
import type {
  Committed,
  GuardedChanges,
  PutIn,
  TransactionalStore,
  TransactionOptions,
} from '../../state/transaction.js';
import { durationOf, jsonOf, ownerOf, writeArguments } from './changes-json.js';
import type { PostgresDatabase, Statement } from './database/database.js';
import type { PgClient } from './database/pg.js';
import { inTransaction, transactionLimit } from './transaction.js';

/** A store on Postgres. */
export interface PostgresStore extends TransactionalStore {
  /**
   * Runs `work` in a transaction, then makes the changes that belong to its result in the same transaction: both are committed, or
   * neither. If a condition or the guard refuses the changes, everything that `work` wrote is rolled back.
   *
   * `work` must use only the connection that it is given, and must not end the transaction. Each of its statements may take as long
   * as the option `timeoutMs` allows. An error of `work` rolls back and is thrown as it is. If the database or the connection
   * ends the transaction, the call rejects with `TransactionFailed`. If that `mayBeCommitted`, the reply to the commit was lost: repeat
   * the call, with a change that is refused the second time.
   */
  transaction<T>(
    work: (client: PgClient) => Promise<T>,
    changesOf: (result: T) => GuardedChanges,
    options?: TransactionOptions,
  ): Promise<Committed<T>>;
  /** Writes an entry that does not exist yet, over a connection to this database, as a part of the transaction that is open on it. */
  readonly putIn: PutIn;
}

/** The settings of the store. */
export interface PostgresStoreSettings {
  readonly maxValueBytes: number;
  /** The largest number of open transactions. */
  readonly maxTransactions: number;
}

const MAX_PAGE = 10_000;

interface WrittenRow {
  readonly refused: number | null;
  readonly held: string | null;
}

interface EntryRow {
  readonly key: string;
  readonly value: string;
  readonly version: string;
  readonly left_ms: number | null;
}

interface LeaseRow {
  readonly queue: string;
  readonly key: string;
  readonly token: string;
  readonly attempt: number;
}

/** Makes the store of a database. */
export function postgresStore(database: PostgresDatabase, settings: PostgresStoreSettings): PostgresStore {
  const sql = statements(database.schema);
  const { maxValueBytes, maxTransactions } = settings;
  const transactions = transactionLimit(maxTransactions);

  const argumentsOf = (changes: readonly StoreChange[], guard: Lease | undefined): unknown[] =>
    writeArguments(changes, { guard, maxValueBytes, lockTimeoutMs: database.statementTimeoutMs });

  return {
    async get(key) {
      if (!isKey(key)) return undefined;
      const [row] = await database.query<EntryRow>(sql.get, [key]);
      return row && toEntry(row);
    },
    async page(prefix, { after = '', limit = 100 }: PageOptions = {}) {
      if (!isKey(prefix) || limit < 1) return [];
      checkKey(after);
      const end = keyAfterPrefix(prefix);
      const values = [prefix, after, Math.min(Math.floor(limit), MAX_PAGE)];
      const rows =
        end === undefined
          ? await database.query<EntryRow>(sql.lastPage, values)
          : await database.query<EntryRow>(sql.page, [...values, end]);
      return rows.map(toEntry);
    },
    async items(list, { after = -1 }: ItemsOptions = {}) {
      if (!isKey(list)) return [];
      const rows = await database.query<{ at: string; name: string; value: string }>(sql.items, [
        list,
        after,
      ]);
      return rows.map(
        ({ at, name, value }): ListItem => ({ at: Number(at), name, value: JSON.parse(value) as JsonObject }),
      );
    },
    async write(changes, { guard } = {}) {
      const [row] = await database.query<WrittenRow>(sql.write, argumentsOf(changes, guard));
      return toWritten(row as WrittenRow, changes);
    },
    async claim(queue, { owner, limit, ms }: ClaimOptions) {
      if (!isKey(queue) || !(limit >= 1)) return [];
      const most = Math.min(Math.floor(limit), MAX_PAGE);
      const rows = await database.query<LeaseRow>(sql.claim, [queue, most, ownerOf(owner), durationOf(ms)]);
      return rows.map(toLease);
    },
    async renew(leases, ms) {
      const known = leases.filter(({ queue, key }) => isKey(queue) && isKey(key));
      if (known.length === 0) return [];
      const rows = await database.query<{ n: string }>(
        sql.renew,
        [
          known.map(({ queue }) => queue),
          known.map(({ key }) => key),
          known.map(({ token }) => token),
          durationOf(ms),
        ],
        { isUrgent: true },
      );
      const held = new Set(rows.map(({ n }) => Number(n)));
      return known.filter((_, at) => held.has(at + 1));
    },
    async size(queue) {
      if (!isKey(queue)) return 0;
      const [row] = await database.query<{ size: string }>(sql.size, [queue]);
      return Number(row?.size ?? 0);
    },
    async transaction(work, changesOf, { leaseMs = 15_000 } = {}) {
      return inTransaction(database, transactions, {
        leaseMs,
        work,
        async finish(client, result) {
          const { changes, guard } = changesOf(result);
          const [row] = await database.run<WrittenRow>(client, sql.write, argumentsOf(changes, guard));
          const written = toWritten(row as WrittenRow, changes);
          return written.ok ? { ...written, result } : written;
        },
      });
    },
    async putIn(client, key, value) {
      checkKey(key);
      await database.ready();
      // No lock and no setting: the transaction is the program's, and the entry is new.
      await client.query({ text: sql.putIn, values: [key, jsonOf(value, key, maxValueBytes)] });
    },
    async close() {
      // The connections belong to the cluster, which closes them.
    },
  };
}

function statements(schema: string) {
  const entry = `key, value, version, (extract(epoch FROM expires - statement_timestamp()) * 1000)::float8 AS left_ms
    FROM ${schema}.entry WHERE (expires IS NULL OR expires > statement_timestamp())`;
  return {
    get: { name: 'get', text: `SELECT ${entry} AND key = $1` },
    page: {
      name: 'page',
      text: `SELECT ${entry} AND key >= $1 AND key > $2 AND key < $4 ORDER BY key LIMIT $3`,
    },
    // A condition that is optional could not bound the search in the index, so this is a statement of its own.
    lastPage: { name: 'last page', text: `SELECT ${entry} AND key >= $1 AND key > $2 ORDER BY key LIMIT $3` },
    items: {
      name: 'items',
      text: `SELECT m.at, m.name, m.value FROM ${schema}.list l JOIN ${schema}.item m ON m.list = l.id
        WHERE l.name = $1 AND (l.expires IS NULL OR l.expires > statement_timestamp()) AND m.at > $2 ORDER BY m.at`,
    },
    write: {
      name: 'write',
      text: `SELECT refused, held FROM ${schema}.write_1($1::jsonb, $2::text[], $3, $4, $5::bigint, $6, $7)`,
    },
    // statement_timestamp() can bound a search in the index, which clock_timestamp() cannot. A row that another claim took in the
    // meantime is looked at again once it is locked, and is not due any more.
    claim: {
      name: 'claim',
      text: `WITH c AS (SELECT queue, key, due FROM ${schema}.work WHERE queue = $1 AND due <= statement_timestamp()
          ORDER BY due LIMIT $2 FOR UPDATE SKIP LOCKED),
        u AS (UPDATE ${schema}.work w SET token = nextval('${schema}.counter'), attempt = w.attempt + 1, owner = $3,
            due = statement_timestamp() + $4::float8 * interval '1 ms'
          FROM c WHERE w.queue = c.queue AND w.key = c.key
          RETURNING w.queue, w.key, w.token, w.attempt, c.due AS was_due)
        SELECT queue, key, token, attempt FROM u ORDER BY was_due`,
    },
    renew: {
      name: 'renew',
      text: `WITH l AS (SELECT w.queue, w.key, l.n FROM ${schema}.work w
          JOIN unnest($1::text[], $2::text[], $3::bigint[]) WITH ORDINALITY AS l (queue, key, token, n)
            ON w.queue = l.queue AND w.key = l.key AND w.token = l.token
          ORDER BY w.queue, w.key FOR UPDATE OF w)
        UPDATE ${schema}.work w SET due = statement_timestamp() + $4::float8 * interval '1 ms'
          FROM l WHERE w.queue = l.queue AND w.key = l.key RETURNING l.n`,
    },
    size: { name: 'size', text: `SELECT count(*) AS size FROM ${schema}.work WHERE queue = $1` },
    putIn: `INSERT INTO ${schema}.entry (key, value, version) VALUES ($1, $2, nextval('${schema}.counter'))`,
  } as const satisfies Readonly<Record<string, Statement | string>>;
}

function toWritten({ refused, held }: WrittenRow, changes: readonly StoreChange[]): Written {
  if (refused !== null) return { ok: false, refusedBy: refused === -1 ? 'guard' : refused };
  if (held === null) return { ok: true };
  const work = changes.find((change) => change.do === 'enqueue' && change.hold !== undefined);
  const { queue, key } = work as Extract<StoreChange, { do: 'enqueue' }>;
  return { ok: true, lease: { queue, key, token: Number(held), attempt: 1 } };
}

function toEntry({ key, value, version, left_ms }: EntryRow): StoreEntry {
  return {
    key,
    value: JSON.parse(value) as JsonObject,
    version: String(version),
    expiresInMs: left_ms === null ? undefined : left_ms,
  };
}

function toLease({ queue, key, token, attempt }: LeaseRow): Lease {
  return { queue, key, token: Number(token), attempt };
}

// A key that cannot be written cannot be there. The client would replace some of its characters, and find another one.
function isKey(key: string): boolean {
  return !/[\p{Cc}\p{Cs}]/u.test(key);
}

/** The first string after all strings that begin with `prefix`, in the order of their bytes; undefined if there is none. */
function keyAfterPrefix(prefix: string): string | undefined {
  const points = Array.from(prefix, (character) => character.codePointAt(0) as number);
  for (let last = points.pop(); last !== undefined; last = points.pop()) {
    if (last === 0x10ffff) continue;
    // The code points of surrogates cannot be in a string of UTF-8.
    return String.fromCodePoint(...points, last === 0xd7ff ? 0xe000 : last + 1);
  }
  return undefined;
}
