// Errors about Redis, without the passwords that the errors of client libraries may contain.

import { conceal } from '../../../protocol/secrets/values.js';

/** An error of Redis, or of the connection to it. */
export class RedisError extends Error {
  /** The name of the class. */
  override readonly name = 'RedisError';
  /**
   * The kind of failure.
   *
   * - `refused`: Redis replied with an error, and the command had no effect.
   * - `unavailable`: Redis could not be reached, and the command was not sent.
   * - `lost`, `timeout`: there was no reply. The command may have been executed.
   * - `closed`: the cluster was closed before.
   */
  readonly code: 'refused' | 'unavailable' | 'lost' | 'timeout' | 'closed';
  /** The code of the reply, such as `OOM`; undefined if there was no reply. */
  readonly reply: string | undefined;

  constructor(code: RedisError['code'], message: string, reply?: string) {
    super(message);
    this.code = code;
    this.reply = reply;
  }
}

/** The code of an error that is a reply of the server, such as `OOM`; undefined for other errors. */
export function replyCodeOf(error: unknown): string | undefined {
  if (error instanceof RedisError) return error.reply;
  return error instanceof Error ? /^([A-Z][A-Z0-9]+)(?: |$)/.exec(error.message)?.[1] : undefined;
}

/**
 * The message of another library's error, without secrets and without a full stop. The error itself is never passed on: it may
 * have the arguments of the command as a property, and those of the handshake contain the password.
 */
export function reasonOf(error: unknown, secrets: readonly string[]): string {
  return conceal(messageOf(error).trim(), secrets, { mask: '***', minLength: 1 }).replace(/\.$/, '');
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // If all addresses of a host fail, Node says why only in the inner errors.
  if (error instanceof AggregateError && error.message === '')
    return error.errors.map((inner) => messageOf(inner)).join('; ');
  const { code } = error as { readonly code?: unknown };
  return error.message || (typeof code === 'string' ? code : error.name);
}
