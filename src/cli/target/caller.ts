// The caller that a file is run for, where the server needs to know who is calling.

import { readFileSync, statSync } from 'node:fs';
import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import { readCaller } from '../../oauth/server/tokens/claims.js';
import type { Auth, Call } from '../../protocol/call.js';
import { type AuthInit, toAuth } from '../../protocol/caller.js';
import { type KeysOf, unknownKeys } from '../../protocol/checks/known-keys.js';
import { copyCall } from '../../protocol/direct.js';
import { copyError, McpError } from '../../protocol/errors.js';
import { shellWord } from '../../tooling/clean.js';
import type { Options, Typed } from '../command/definition.js';
import { usageError } from '../command/failures.js';

/** A process that is started gets the caller on its command line, which has a limit. */
const MAX_CLAIMS_BYTES = 64 * 1024;

export const CALLER_OPTIONS: Options = {
  as: {
    type: 'string',
    value: 'caller',
    help: 'the caller for a server in a file: a subject, or JSON as in \'{"subject":"ada","scopes":["read"]}\'',
  },
  scopes: { type: 'string', multiple: true, value: 'a,b', help: 'the scopes of that caller' },
  claims: {
    type: 'string',
    value: 'file',
    help: 'a JSON file with the claims of a token, which describe the caller: sub, scope, iss and others',
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

type CallerInput = Pick<Typed, 'text' | 'texts'>;

/** The caller that was typed with `--as`, `--scopes` and `--claims`; undefined if none was. */
export function callerOf(input: CallerInput): Auth | undefined {
  const [as, claims] = [input.text('as'), input.text('claims')];
  const scopes = input.texts('scopes').flatMap((text) => text.split(',').map((scope) => scope.trim()));
  if (as === undefined && claims === undefined) {
    if (scopes.length > 0) throw usageError('--scopes needs a caller: add --as, as in --as ada.');
    return undefined;
  }
  return authOf({
    ...(claims !== undefined && claimedCaller(claims, as)),
    ...(as !== undefined && namedCaller(as)),
    ...(scopes.length > 0 && { scopes: scopes.filter((scope) => scope !== '') }),
  });
}

/** The option for a caller that was typed; undefined if none was. */
export function callerOption(input: Pick<Typed, 'texts'>): string | undefined {
  return Object.keys(CALLER_OPTIONS).find((option) => input.texts(option).length > 0);
}

/** The options that name a caller, as one would type them after a target. */
export function callerWords({ subject, scopes, claims, ...more }: Auth): readonly string[] {
  const hasMore = Object.keys(claims).length > 0 || Object.keys(more).length > 0;
  // The short form is for a name that cannot be taken for JSON or for an option, and for scopes that a comma separates.
  if (hasMore || /^[\s{-]/.test(subject) || scopes.some((scope) => /[\s,]|^$|^-/.test(scope)))
    return ['--as', shellWord(JSON.stringify({ subject, scopes, claims, ...more }))];
  return [
    '--as',
    shellWord(subject),
    ...(scopes.length > 0 ? ['--scopes', shellWord(scopes.join(','))] : []),
  ];
}

function authOf(init: Partial<AuthInit>): Auth {
  try {
    return toAuth(init as AuthInit, '--as');
  } catch (error) {
    throw usageError((error as Error).message);
  }
}

function namedCaller(text: string): Partial<AuthInit> {
  if (!text.trimStart().startsWith('{')) return { subject: text };
  let init: AuthInit;
  try {
    init = JSON.parse(text) as AuthInit;
  } catch {
    throw usageError('--as is not JSON.');
  }
  const [unknown] = unknownKeys(init, keys);
  if (unknown !== undefined) throw usageError(`--as has ${JSON.stringify(unknown.key)}. ${unknown.hint}`);
  return init;
}

/** The caller that a server would read from a token with these claims. The file is not a token: its times are not looked at. */
function claimedCaller(file: string, as: string | undefined): Partial<AuthInit> {
  const claims = readClaims(file);
  const { iss } = claims;
  const read = readCaller(as === undefined ? claims : { sub: 'named by --as', ...claims }, {
    issuer: typeof iss === 'string' ? iss : '',
    expiresAt: undefined,
  });
  if ('reason' in read)
    throw usageError(`The claims in ${file} name nobody: add "sub", or name the caller with --as.`);
  const { issuer, ...auth } = read.auth;
  return issuer === '' ? auth : read.auth;
}

function readClaims(file: string): JsonObject {
  try {
    if (statSync(file).size > MAX_CLAIMS_BYTES)
      throw usageError(`The file ${file} of --claims has more than ${MAX_CLAIMS_BYTES} bytes.`);
    const value: unknown = JSON.parse(readFileSync(file, 'utf8'));
    if (isObject(value)) return value;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') throw usageError(`The file ${file} of --claims does not exist.`);
    if (code !== undefined) throw usageError(`The file ${file} of --claims cannot be read (${code}).`);
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw usageError(
    `The file ${file} of --claims must be a JSON object, as in {"sub": "ada", "scope": "read"}.`,
  );
}

/** The server, called by this caller alone: its `auth` is not asked. It is not local any more: the rules of access apply to it. */
export function servedFor<S extends { readonly dispatch: (call: Call) => Promise<unknown> }>(
  server: S,
  auth: Auth,
): S {
  const { dispatch } = server;
  const dispatchAs = (call: Call): Promise<unknown> => dispatch(copyCall(call, { auth }));
  return Object.create(server, {
    dispatch: { value: dispatchAs, enumerable: true },
    auth: { value: undefined, enumerable: true },
    // Its rules apply to the caller, so a transport must not warn that nobody can use what they guard.
    isGuarded: { value: false, enumerable: true },
  }) as S;
}

/**
 * The error of a server in a file that nobody calls, with the option that names a caller; or of one whose caller lacks scopes, with the
 * option for these. On stdio, the server's refusal is an internal error.
 */
export function withCallerHint(error: unknown, input: Pick<Typed, 'texts'>): unknown {
  const isRefusal =
    McpError.is(error) && ['unauthorized', 'forbidden', 'internal_error'].includes(error.code);
  if (!isRefusal) return error;
  if (callerOption(input) !== undefined) {
    const [, scopes] = /^This needs the scopes? (\S.*)\.$/.exec(error.message) ?? [];
    if (scopes === undefined) return error;
    const option = shellWord(scopes.split(' ').join(','));
    return copyError(error, { message: `${error.message} Give it to the caller: --scopes ${option}` });
  }
  return copyError(error, { message: `${error.message.replace(/(?<![.!?])$/, '.')} ${CALLER_HINT}` });
}

/** The sentence about the option that names a caller. */
const CALLER_HINT = 'If the server needs to know who is calling, name a caller with --as, as in: --as ada';
