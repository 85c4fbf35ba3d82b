import { isObject } from '../../../jsonrpc/message.js';
import { decodeBase64Url, encodeBase64Url } from '../../../protocol/encoding/base64.js';
import type { ClientCapabilities } from '../../../protocol/model/model.js';
import { sessionRevisions } from '../../../protocol/tables/features.js';
import type { Handshake } from '../handshake.js';
import type { SessionOrigin } from '../shared/session-warnings.js';

/**
 * Session ids that carry their session: the client's handshake, the time, and a signature. Any process with the same secret accepts
 * them, so load balancers need not be sticky, and sessions survive a restart.
 */
export interface SessionIds {
  readonly issue: (handshake: Handshake, principal?: string) => Promise<string>;
  /** The session in the id; undefined if the id is invalid or expired, or belongs to another caller. */
  readonly read: (id: string, principal?: string) => Promise<IssuedSession | undefined>;
  /** Finds out whether an id was issued with another secret; undefined if it was not, or if nobody would accept it any more. */
  readonly originOf: (id: string, principal: string) => Promise<SessionOrigin | undefined>;
}

export interface IssuedSession {
  readonly handshake: Handshake;
  readonly issuedAt: number;
  readonly expiresAt: number;
}

// No issued id is this long: strings are cut, and extensions with long names are left out.
const MAX_ID = 4096;
const MAX_NAME = 100;
const CLOCK_SKEW_MS = 300_000;
const EXTENSION = /^[A-Za-z0-9._/-]{1,100}$/;
const SIGNATURE_BYTES = 32;
const encoder = new TextEncoder();

export function sessionIds({
  secrets,
  maxAgeMs,
}: {
  /** The first secret signs, and all of them are accepted. Undefined for a random one. */
  readonly secrets: readonly string[] | undefined;
  readonly maxAgeMs: number;
}): SessionIds {
  const startedAt = Date.now();
  // Made with the first session, because some runtimes have no random bytes while a module loads.
  let keysPromise: Promise<readonly [CryptoKey, ...CryptoKey[]]> | undefined;
  function keys(): Promise<readonly [CryptoKey, ...CryptoKey[]]> {
    keysPromise ??= Promise.all((secrets ?? [undefined]).map(importKey)) as Promise<never>;
    return keysPromise;
  }

  async function issue({ revision, client, capabilities }: Handshake, principal = ''): Promise<string> {
    const payload = encodeBase64Url(
      encoder.encode(
        JSON.stringify({
          t: Date.now(),
          n: encodeBase64Url(crypto.getRandomValues(new Uint8Array(16))),
          r: revision,
          i: [client?.name, client?.version].map((text: unknown) =>
            typeof text === 'string' ? text.slice(0, MAX_NAME) : '',
          ),
          c: essentialCapabilities(capabilities),
        }),
      ),
    );
    const [key] = await keys();
    const signature = await crypto.subtle.sign('HMAC', key, signedBytes(payload, principal));
    return `${payload}.${encodeBase64Url(new Uint8Array(signature))}`;
  }

  async function read(id: string, principal = ''): Promise<IssuedSession | undefined> {
    const dot = id.indexOf('.');
    if (dot === -1 || id.length > MAX_ID) return undefined;
    const payload = id.slice(0, dot);
    const signature = decodeBase64Url(id.slice(dot + 1));
    const bytes = decodeBase64Url(payload);
    if (signature === undefined || bytes === undefined) return undefined;
    // The last character has unused bits. If they could vary, one session would have several ids.
    if (encodeBase64Url(signature) !== id.slice(dot + 1)) return undefined;
    if (!(await isSigned(signature, signedBytes(payload, principal)))) return undefined;
    const { t, r, i, c } = JSON.parse(new TextDecoder().decode(bytes)) as {
      t: number;
      r: string;
      i: string[];
      c: object;
    };
    const revision = sessionRevisions.find((candidate) => candidate === r);
    const expiresAt = t + maxAgeMs;
    if (revision === undefined || expiresAt <= Date.now()) return undefined;
    const client = i[0] ? { name: i[0], version: i[1] ?? '' } : undefined;
    return { handshake: { revision, client, capabilities: c as ClientCapabilities }, issuedAt: t, expiresAt };
  }

  async function originOf(id: string, principal: string): Promise<SessionOrigin | undefined> {
    const [payload = '', signed = ''] = id.length > MAX_ID ? [] : id.split('.');
    const signature = decodeBase64Url(signed);
    const t = issueTime(payload);
    if (signature?.byteLength !== SIGNATURE_BYTES || t === undefined) return undefined;
    if (t + maxAgeMs <= Date.now() || t > Date.now() + CLOCK_SKEW_MS) return undefined;
    // A session of this process that has ended, or that was opened without a caller.
    for (const caller of [principal, ''])
      if (await isSigned(signature, signedBytes(payload, caller))) return undefined;
    if (t >= startedAt) return 'meanwhile';
    // A process without a secret cannot accept the sessions of the process before it, as its operator knows.
    return secrets === undefined ? undefined : 'earlier';
  }

  async function isSigned(
    signature: Uint8Array<ArrayBuffer>,
    bytes: Uint8Array<ArrayBuffer>,
  ): Promise<boolean> {
    for (const key of await keys())
      if (await crypto.subtle.verify('HMAC', key, signature, bytes)) return true;
    return false;
  }

  return { issue, read, originOf };
}

/** The time at which an id was issued; undefined if the id is not one of ours. */
function issueTime(payload: string): number | undefined {
  try {
    const bytes = decodeBase64Url(payload);
    const content: unknown = JSON.parse(new TextDecoder().decode(bytes));
    if (!isObject(content) || typeof content['t'] !== 'number' || typeof content['n'] !== 'string')
      return undefined;
    return sessionRevisions.some((revision) => revision === content['r']) ? content['t'] : undefined;
  } catch {
    return undefined;
  }
}

// The principal is not in the id, but is signed with it. A payload has no line breaks, so the two cannot be confused.
function signedBytes(payload: string, principal: string): Uint8Array<ArrayBuffer> {
  return encoder.encode(principal === '' ? payload : `${payload}\n${principal}`);
}

async function importKey(secret: string | undefined): Promise<CryptoKey> {
  const bytes = secret === undefined ? crypto.getRandomValues(new Uint8Array(32)) : encoder.encode(secret);
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign', 'verify']);
}

// The capabilities that affect how the client is served. Every request carries the id, so all others are left out.
function essentialCapabilities(capabilities: ClientCapabilities): ClientCapabilities {
  const { sampling, elicitation, roots, extensions, experimental } = capabilities;
  return {
    ...(isObject(sampling) && { sampling: pick(sampling, ['context', 'tools']) }),
    ...(isObject(elicitation) && { elicitation: pick(elicitation, ['form', 'url']) }),
    ...(isObject(roots) && { roots: {} }),
    ...(isObject(extensions) && { extensions: pick(extensions, Object.keys(extensions).slice(0, 8)) }),
    ...(isObject(experimental) && {
      experimental: pick(experimental, Object.keys(experimental).slice(0, 8)),
    }),
  };
}

function pick(
  object: Record<string, unknown>,
  keys: readonly string[],
): Record<string, Record<string, never>> {
  return Object.fromEntries(
    keys.filter((key) => EXTENSION.test(key) && isObject(object[key])).map((key) => [key, {}]),
  );
}
