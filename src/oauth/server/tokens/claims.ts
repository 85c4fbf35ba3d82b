import type { JsonObject } from '../../../jsonrpc/message.js';
import type { Auth } from '../../../protocol/call.js';
import { checkOptions, type OptionTable } from '../../../protocol/checks/options.js';
import { shorten } from '../../../protocol/encoding/shorten.js';

// From the claims of a token to a caller.

/** The names of the claims that describe the caller. The first one of an array that the token has is used; all of them for scopes. */
export interface ClaimNames {
  /**
   * The caller's name. Default: `sub`. Some authorization servers issue tokens without `sub` to programs that act for themselves:
   * `['sub', 'client_id']` accepts these. Make sure that the tokens of users have a `sub`, or all users of a client are one caller.
   */
  readonly subject?: string | readonly string[] | undefined;
  /** The scopes: each claim is a string with spaces, or an array. A function computes them. Default: `scope` and `scp`. */
  readonly scopes?:
    | string
    | readonly string[]
    | ((claims: Readonly<JsonObject>) => readonly string[])
    | undefined;
  /** The client that the caller uses. Default: `client_id`, otherwise `azp`. */
  readonly clientId?: string | readonly string[] | undefined;
  /** The email address, which counts only if `email_verified` is true. Default: `email`. */
  readonly email?: string | undefined;
}

const nameTable = {
  subject: 'any',
  scopes: 'any',
  clientId: 'any',
  email: 'any',
} as const satisfies OptionTable<ClaimNames>;

/** Throws a TypeError if the names of claims are wrong. */
export function checkClaimNames(functionName: string, names: ClaimNames | undefined): void {
  if (names === undefined) return;
  checkOptions(`${functionName} ("claims")`, names, nameTable);
  for (const [key, value] of Object.entries(names)) {
    if (key === 'scopes' && typeof value === 'function') continue;
    if (
      value !== undefined &&
      !namesOf(value as string).every((one) => typeof one === 'string' && one !== '')
    )
      throw new TypeError(`${functionName}: \`claims.${key}\` must be the name of a claim.`);
  }
}

const MAX_SUBJECT = 1024;
const MAX_SCOPES = 1000;

/** A caller, or a sentence that says why the claims do not describe one. */
export type CallerOrReason = { readonly auth: Auth } | { readonly reason: string };

/** Reads the caller from the claims of a token. `expiresAt` is in milliseconds since 1970. */
export function readCaller(
  claims: JsonObject,
  {
    names = {},
    issuer,
    expiresAt,
  }: {
    readonly names?: ClaimNames | undefined;
    readonly issuer: string;
    readonly expiresAt: number | undefined;
  },
): CallerOrReason {
  const {
    subject: subjects = 'sub',
    clientId: clients = ['client_id', 'azp'],
    email: emails = 'email',
  } = names;
  const subject = firstString(claims, namesOf(subjects));
  if (subject === undefined || subject.length > MAX_SUBJECT)
    return { reason: `The token does not have a subject (${namesOf(subjects).join(', ')}).` };
  const clientId = firstString(claims, namesOf(clients));
  const isVerified = claims['email_verified'] === true || claims['email_verified'] === 'true';
  const email = isVerified ? firstString(claims, [emails]) : undefined;
  const auth: Auth = {
    subject,
    scopes: scopesOf(claims, names.scopes),
    claims,
    issuer,
    ...(clientId !== undefined && { clientId }),
    ...(email !== undefined && { email }),
    ...(Number.isFinite(expiresAt) && { expiresAt }),
  };
  // All requests with the token share the object.
  return { auth: freezeDeeply(auth) };
}

/** The scopes of a token, once each. */
export function scopesOf(
  claims: JsonObject,
  names: ClaimNames['scopes'] = ['scope', 'scp'],
): readonly string[] {
  if (typeof names === 'function') return names(claims);
  const all = namesOf(names).flatMap((name) => {
    const value = own(claims, name);
    if (typeof value === 'string') return value.split(' ');
    return Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : [];
  });
  return [...new Set(all.filter((scope) => scope !== ''))].slice(0, MAX_SCOPES);
}

/** The audiences of a token. */
function audiencesIn(claims: JsonObject): readonly unknown[] {
  const aud = own(claims, 'aud');
  return Array.isArray(aud) ? aud : aud === undefined ? [] : [aud];
}

/** A sentence about the audience of a token that is not for this server; undefined if it is for this server. */
export function wrongAudience(
  claims: JsonObject,
  accepted: readonly string[] | undefined,
): string | undefined {
  if (accepted === undefined) return undefined;
  const audiences = audiencesIn(claims);
  if (audiences.some((one) => typeof one === 'string' && accepted.includes(one))) return undefined;
  const expected = `this server is ${accepted.map((one) => shorten(one, 200)).join(' or ')}`;
  if (audiences.length === 0) return `The token does not have an audience (aud), and ${expected}.`;
  return `The token is for another audience (aud): ${shorten(audiences.join(', '), 200)}, and ${expected}.`;
}

/** The first of some claims that is a string. */
export function firstString(claims: JsonObject, names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = own(claims, name);
    if (typeof value === 'string' && value !== '') return value;
  }
  return undefined;
}

/** A claim of the token itself. */
export function own(claims: JsonObject, name: string): unknown {
  return Object.hasOwn(claims, name) ? claims[name] : undefined;
}

function namesOf(names: string | readonly string[]): readonly string[] {
  return typeof names === 'string' ? [names] : names;
}

const MAX_LEVELS = 100;

/** Levels that are deeper than any handler reads stay as they are: a hostile depth must not fill the call stack. */
function freezeDeeply<T>(value: T, levels = MAX_LEVELS): T {
  if (levels > 0 && typeof value === 'object' && value !== null)
    for (const member of Object.values(value)) freezeDeeply(member, levels - 1);
  return Object.freeze(value);
}
