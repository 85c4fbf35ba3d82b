// The settings of the server: those that make it impossible to use, and those that an operator should know about.

import type { PgClient } from './pg.js';
import type { DatabaseTarget } from './target.js';

/** The oldest version of Postgres that is supported, as the server writes it: 12. */
const OLDEST = 120_000;

interface Settings {
  readonly release: number;
  readonly release_name: string;
  readonly encoding: string;
  readonly is_standby: boolean;
  readonly fsync: string;
  readonly full_page_writes: string;
  readonly synchronous_commit: string;
  readonly isolation: string;
}

/** Reads the settings of the server. Rejects if the server cannot be used; returns warnings, in whole sentences. */
export async function checkServer(
  client: PgClient,
  target: DatabaseTarget,
  timeoutMs: number,
): Promise<readonly string[]> {
  const { rows } = await client.query({
    text: `SELECT current_setting('server_version_num')::int AS release, current_setting('server_version') AS release_name,
      current_setting('server_encoding') AS encoding, pg_is_in_recovery() AS is_standby, current_setting('fsync') AS fsync,
      current_setting('full_page_writes') AS full_page_writes, current_setting('synchronous_commit') AS synchronous_commit,
      current_setting('default_transaction_isolation') AS isolation`,
    query_timeout: timeoutMs,
  });
  const settings = rows[0] as Settings;
  const problem = problemOf(settings);
  if (problem !== undefined) throw new Error(`Postgres at ${target.name} cannot be used: ${problem}`);
  return warningsOf(settings).map((warning) => `Postgres at ${target.name}: ${warning}`);
}

function problemOf({ release, release_name, encoding, is_standby, isolation }: Settings): string | undefined {
  if (release < OLDEST)
    return `its version is ${release_name}, and fullmcp needs version 12 or newer. Update the server.`;
  if (encoding !== 'UTF8')
    return `the encoding of the database is ${encoding}, which cannot keep every string. Create a database with ENCODING 'UTF8'.`;
  if (is_standby) return 'it is a standby, which cannot write. Use the URL of the primary server.';
  if (isolation !== 'read committed')
    return `the isolation level of this user's transactions is "${isolation}". Set it with ALTER ROLE … SET default_transaction_isolation = 'read committed'.`;
  return undefined;
}

function warningsOf({ fsync, full_page_writes, synchronous_commit }: Settings): readonly string[] {
  const warnings: string[] = [];
  if (fsync === 'off')
    warnings.push(
      '"fsync" is off, so a power failure or a crash of the operating system can lose or corrupt all data, tasks included. Set fsync = on.',
    );
  if (full_page_writes === 'off')
    warnings.push(
      '"full_page_writes" is off, so a power failure in the middle of a write can corrupt the data, unless the file system never writes half a page. Set full_page_writes = on.',
    );
  if (synchronous_commit === 'off')
    warnings.push(
      '"synchronous_commit" is off, so a crash of the server loses the writes of about the last second although they were confirmed: steps of tasks run again, and two processes may hold one task. Set synchronous_commit = on for this database or user.',
    );
  return warnings;
}
