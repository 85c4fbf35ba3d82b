// Brings the schema of the database to the version that this code needs.

import { functions } from './functions.js';
import type { PgClient } from './pg.js';
import { tables } from './tables.js';
import { writeFunction } from './write-function.js';

/** The statements of a step. A step that was released is never changed: a later step changes what it made. */
export type Migration = (schema: string) => string;

/** All steps. The version of a schema is the number of steps that it went through. */
const MIGRATIONS: readonly Migration[] = [
  (schema) => tables(schema) + writeFunction(schema) + functions(schema),
];

/** The longest time that the steps may take, including those of another process that came first. */
const TIMEOUT_MS = 60_000;

/**
 * Takes the steps that the schema lacks, in one transaction. Any number of processes can do this at the same time: the others wait
 * for the first. Rejects if the schema has a version that this code does not know.
 */
export async function migrate(
  client: PgClient,
  schema: string,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<void> {
  const query = async (text: string): Promise<void> =>
    void (await client.query({ text, query_timeout: TIMEOUT_MS }));
  // A user without the right to change the schema can still use one that is up to date.
  if ((await stepsOf(client, schema)) === migrations.length) return;
  try {
    await query(
      `BEGIN; SET LOCAL statement_timeout = ${TIMEOUT_MS}; SELECT pg_advisory_xact_lock(hashtextextended('${schema}.migrate', 0))`,
    );
    const taken = await stepsOf(client, schema);
    if (taken > migrations.length)
      throw new Error(
        `The schema "${schema}" has version ${taken}, and this version of fullmcp knows only ${migrations.length}. Update fullmcp in this process, or use another schema.`,
      );
    if (taken === 0) await query(preparation(schema));
    for (const [at, migration] of migrations.entries()) {
      if (at < taken) continue;
      await query(migration(schema));
      await query(`INSERT INTO ${schema}.migration (version) VALUES (${at + 1})`);
    }
    await query('COMMIT');
  } catch (error) {
    await query('ROLLBACK').catch(() => undefined);
    throw error;
  }
}

// The schema may have been made by an administrator: CREATE SCHEMA IF NOT EXISTS would need the right to make schemas all the same.
function preparation(schema: string): string {
  return `
DO $$ BEGIN
  IF NOT EXISTS (SELECT FROM pg_catalog.pg_namespace WHERE nspname = '${schema}') THEN
    CREATE SCHEMA ${schema};
  END IF;
END $$;
CREATE TABLE IF NOT EXISTS ${schema}.migration (
  version integer PRIMARY KEY,
  at timestamptz NOT NULL DEFAULT statement_timestamp()
);
`;
}

async function stepsOf(client: PgClient, schema: string): Promise<number> {
  const query = async (text: string): Promise<unknown[]> =>
    (await client.query({ text, query_timeout: TIMEOUT_MS })).rows;
  // Not to_regclass(): it may remember that the table was not there, although another process has made it since.
  const found = await query(
    `SELECT 1 FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
      WHERE n.nspname = '${schema}' AND c.relname = 'migration'`,
  );
  if (found.length === 0) return 0;
  const [row] = await query(`SELECT coalesce(max(version), 0) AS version FROM ${schema}.migration`);
  return (row as { readonly version: number }).version;
}
