import { isObject } from '../jsonrpc/message.js';
import type { Auth, Call } from './call.js';

// The caller's identity: its defaults, its checks, and the name that tasks and sessions belong to.

/** The caller's identity as a program gives it: `subject` alone is enough; the rest is empty by default. */
export interface AuthInit extends Partial<Auth> {
  /** The caller's name, unique and stable: 1 to 1024 characters. Tasks, sessions and idempotency keys belong to it. */
  readonly subject: string;
}

/**
 * Identifies the caller from the request that carries the call. Return undefined or null for an anonymous caller; throw an
 * `McpError` to reject the request.
 */
export type Authenticate<Request> = (
  request: Request,
) => AuthInit | undefined | null | Promise<AuthInit | undefined | null>;

/** The facts of a call about its caller and about the request that carried it. */
export type Caller = Pick<Call, 'auth' | 'http' | 'isLocal' | 'pinned'>;

const MAX_SUBJECT = 1024;

/** The caller's identity with its defaults. Throws a TypeError that says what is wrong. */
export function toAuth(init: AuthInit, option?: string): Auth;
export function toAuth(init: AuthInit | undefined, option?: string): Auth | undefined;
export function toAuth(init: AuthInit | undefined, option = 'auth'): Auth | undefined {
  if (init === undefined) return undefined;
  if (!isObject(init)) throw new TypeError(`${option} must be an object with a "subject", or undefined.`);
  const { subject, scopes = [], claims = {} } = init as AuthInit;
  // An anonymous caller is undefined. A caller with an empty name would share the tasks and sessions of all anonymous callers.
  if (typeof subject !== 'string' || subject === '' || subject.length > MAX_SUBJECT)
    throw new TypeError(`${option}.subject must be a string of 1 to ${MAX_SUBJECT} characters.`);
  if (!Array.isArray(scopes) || scopes.some((scope) => typeof scope !== 'string'))
    throw new TypeError(`${option}.scopes must be an array of strings.`);
  if (!isObject(claims)) throw new TypeError(`${option}.claims must be an object.`);
  checkCredentials(init as AuthInit, option);
  // A provider returns a complete caller, often from a cache: it is not copied with every request.
  return init.scopes === scopes && init.claims === claims
    ? (init as Auth)
    : { ...init, subject, scopes, claims };
}

// An issuer that is not a string would be part of no name, and a time that is not a number would never come.
function checkCredentials({ issuer, expiresAt }: AuthInit, option: string): void {
  if (issuer !== undefined && (typeof issuer !== 'string' || issuer === '' || issuer.length > MAX_SUBJECT))
    throw new TypeError(`${option}.issuer must be a string of 1 to ${MAX_SUBJECT} characters.`);
  if (expiresAt !== undefined && !Number.isFinite(expiresAt))
    throw new TypeError(`${option}.expiresAt must be a number: milliseconds since 1970.`);
}

/**
 * The name that tasks, states, sessions and idempotency keys belong to; empty for an anonymous caller. A subject without an issuer
 * cannot be equal to one with an issuer.
 */
export function principalOf({ auth }: Pick<Call, 'auth'>): string {
  if (auth === undefined) return '';
  const { subject, issuer } = auth;
  if (issuer !== undefined) return JSON.stringify([issuer, subject]);
  return subject.startsWith('[') || LONE_SURROGATE.test(subject) ? JSON.stringify([subject]) : subject;
}

/** As UTF-8, all of these are the same character, so that different names would become one. JSON keeps them apart. */
const LONE_SURROGATE = /\p{Surrogate}/u;

const MAX_STORED = 16 * 1024;

/** The caller as it is stored with a task: only the parts that are JSON. Throws a TypeError if they are too long. */
export function storableAuth(auth: Auth): Auth {
  const json = JSON.stringify(auth);
  if (json.length > MAX_STORED)
    throw new TypeError(
      `auth has ${json.length} characters as JSON; at most ${MAX_STORED} can be stored with a task. Keep only the claims that handlers read in auth.claims.`,
    );
  return JSON.parse(json) as Auth;
}
