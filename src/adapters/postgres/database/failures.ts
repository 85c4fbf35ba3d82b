// The errors of Postgres and of its client, as sentences for people, without passwords.

import { MissingPackageError } from '../../../protocol/checks/optional-package.js';
import type { DatabaseTarget } from './target.js';

/** SQLSTATE of the error that the functions of the schema raise if the isolation level is not READ COMMITTED. */
export const WRONG_ISOLATION = 'FM001';

/** SQLSTATEs of transactions that failed only because of others, and succeed if they are tried again. */
const TRANSIENT = new Set(['40001', '40P01']);

/** SQLSTATEs of values that the database can never keep. */
const IMPOSSIBLE = new Set(['22021', '22P05', '22P02', '54000', '22003', '22008']);

/** The errors of the client for connections that have ended or do not answer. */
const LOST =
  /^(Connection terminated|Query read timeout|Client (was closed|has encountered a connection error))/;

/** What to do about an error, by its code. */
const ADVICE: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'Check that the server runs and that host and port are right.',
  ENOTFOUND: 'Check the host.',
  EAI_AGAIN: 'Check the host and the DNS of this machine.',
  '26000': 'A pooler in transaction mode loses prepared statements: set the option "listen" to false.',
  '42P05': 'A pooler in transaction mode mixes up prepared statements: set the option "listen" to false.',
  '28P01': 'Check the user and the password.',
  '28000': 'Check the user and the rules in pg_hba.conf.',
  '3D000': 'Create the database, or correct its name.',
  '42501': 'Grant the user the right, or let a user who has it call start() once.',
  '53300': 'Lower "poolSize", or raise max_connections of the server.',
  '25P02':
    'A statement of the step failed, and the step continued. Let its error end the step, or put a SAVEPOINT before it.',
  '25P03':
    'The step did something else for too long between two statements of its transaction. Do slow work before the first statement, or raise "tasks.leaseMs".',
  '25006': 'Use the URL of the primary server: a standby cannot write.',
  '55P03': 'Another transaction holds the same rows for too long: look for it in pg_stat_activity.',
  '57014': 'The server is overloaded or a row is locked for long. Raise "timeoutMs" if this is expected.',
  [WRONG_ISOLATION]:
    "Set it with ALTER ROLE … SET default_transaction_isolation = 'read committed', and do not change it in a transaction of a step.",
};

/** Whether the same transaction is likely to succeed if it is tried again. */
export function isTransient(error: unknown): boolean {
  return TRANSIENT.has(codeOf(error) ?? '');
}

/** Whether the connection can still be used after the error: the server rejected a statement, and continues. */
export function keepsConnection(error: unknown): boolean {
  const { severity } = error as { readonly severity?: unknown };
  return severity === 'ERROR';
}

/** Whether the error means that the connection is lost. Errors of the server itself are marked as fatal then. */
export function isConnectionLost(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { severity } = error as { readonly severity?: unknown };
  if (severity !== undefined) return severity === 'FATAL' || severity === 'PANIC';
  if (error instanceof PostgresFailure) return true;
  return /^E[A-Z]+$/.test(codeOf(error) ?? '') || LOST.test(error.message);
}

/** Whether a write failed only because the server is busy: a lock or a statement took too long, or other transactions were in the way. */
export function isBusy(error: unknown): boolean {
  const code = codeOf(error) ?? '';
  return TRANSIENT.has(code) || code === '55P03' || code === '57014';
}

/** The error that a caller gets: a `RangeError` if the write can never succeed, otherwise an `Error` that names the database. */
export function failureOf(error: unknown, target: DatabaseTarget): Error {
  if (
    error instanceof PostgresFailure ||
    error instanceof MissingPackageError ||
    error instanceof RangeError ||
    error instanceof TypeError
  )
    return error;
  const code = codeOf(error);
  const reason = target.redact(reasonOf(error)).replace(/\.$/, '');
  if (code !== undefined && IMPOSSIBLE.has(code))
    return new RangeError(`Postgres at ${target.name} cannot keep this value: ${reason}.`);
  const advice = code !== undefined && Object.hasOwn(ADVICE, code) ? ` ${ADVICE[code]}` : '';
  return new PostgresFailure(`Postgres at ${target.name} failed: ${reason}.${advice}`, code);
}

/** The error of a call that took too long. */
export function timedOut(target: DatabaseTarget, what: string, ms: number): Error {
  return new PostgresFailure(
    `Postgres at ${target.name} ${what} within ${ms} ms. Check that the server runs and is not overloaded.`,
    'ETIMEDOUT',
  );
}

/** A failure that names the database. The original error is left out: it may have the settings of the connection. */
class PostgresFailure extends Error {
  readonly code: string | undefined;

  constructor(message: string, code: string | undefined) {
    super(message);
    this.name = 'PostgresFailure';
    this.code = code;
  }
}

function codeOf(error: unknown): string | undefined {
  const { code } = (error ?? {}) as { readonly code?: unknown };
  return typeof code === 'string' ? code : undefined;
}

// An attempt to connect to several addresses fails with an AggregateError, whose message is empty.
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.message !== '') return error.message;
  const { errors = [] } = error as { readonly errors?: readonly Error[] };
  return errors.map(({ message }) => message).join('; ') || codeOf(error) || error.name;
}
