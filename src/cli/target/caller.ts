// The caller that a file is run for, where the server needs to know who is calling.

import type { Auth, Call } from '../../protocol/call.js';
import { type AuthInit, toAuth } from '../../protocol/caller.js';
import { type KeysOf, unknownKeys } from '../../protocol/checks/known-keys.js';
import { copyCall } from '../../protocol/direct.js';
import { copyError, McpError } from '../../protocol/errors.js';
import type { Options, Typed } from '../command/definition.js';
import { usageError } from '../command/failures.js';

export const CALLER_OPTIONS: Options = {
  as: {
    type: 'string',
    value: 'caller',
    help: 'the caller for a server in a file: a subject, or JSON as in \'{"subject":"ada","scopes":["read"]}\'',
  },
};

const keys: KeysOf<AuthInit> = {
  subject: true,
  scopes: true,
  claims: true,
  issuer: true,
  email: true,
  clientId: true,
  expiresAt: true,
};

/** The caller that was typed with `--as`; undefined if none was. */
export function callerOf(input: Pick<Typed, 'text'>): Auth | undefined {
  const text = input.text('as');
  if (text === undefined) return undefined;
  try {
    const init = text.trimStart().startsWith('{') ? (JSON.parse(text) as AuthInit) : { subject: text };
    const [unknown] = unknownKeys(init, keys);
    if (unknown !== undefined) throw new TypeError(`has ${JSON.stringify(unknown.key)}. ${unknown.hint}`);
    return toAuth(init, '--as');
  } catch (error) {
    const reason = error instanceof SyntaxError ? 'is not JSON.' : (error as Error).message;
    throw usageError(`${reason.startsWith('--as') ? '' : '--as '}${reason}`);
  }
}

/** The server, called by this caller alone. It is not local any more: the rules of access apply to it. */
export function servedFor<S extends { readonly dispatch: (call: Call) => Promise<unknown> }>(
  server: S,
  auth: Auth,
): S {
  const { dispatch } = server;
  const dispatchAs = (call: Call): Promise<unknown> => dispatch(copyCall(call, { auth }));
  return Object.create(server, { dispatch: { value: dispatchAs, enumerable: true } }) as S;
}

/**
 * The error of a server in a file that nobody calls, with the option that names a caller. On stdio, the server's refusal is an internal
 * error.
 */
export function withCallerHint(error: unknown, input: Pick<Typed, 'text'>): unknown {
  const isRefusal =
    McpError.is(error) && ['unauthorized', 'forbidden', 'internal_error'].includes(error.code);
  if (!isRefusal || input.text('as') !== undefined) return error;
  return copyError(error, { message: `${error.message.replace(/(?<![.!?])$/, '.')} ${CALLER_HINT}` });
}

/** The sentence about the option that names a caller. */
const CALLER_HINT = 'If the server needs to know who is calling, name a caller with --as, as in: --as ada';
