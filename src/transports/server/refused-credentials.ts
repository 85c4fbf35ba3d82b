// Reports requests whose credentials were refused. They never become calls, so that no middleware sees them.

import { unref } from '../../async/unref.js';
import { shorten } from '../../protocol/encoding/shorten.js';
import { McpError } from '../../protocol/errors.js';
import { isSecretName } from '../../protocol/secrets/is-secret-name.js';
import { hideInText, REDACTED } from '../../protocol/secrets/text.js';
import { conceal, piecesOf } from '../../protocol/secrets/values.js';
import type { RefusedCaller } from '../../protocol/telemetry/events.js';
import { refusedChannel } from '../../protocol/telemetry/tracing.js';
import type { RefusalListener } from '../../state/refusal-listeners.js';

/** The parts of a `RefusedCredentials`. */
export interface RefusedCredentialsParts {
  /** The name of the server, if it has one. */
  readonly server: string;
  readonly log: (level: 'warning', message: string) => void;
  readonly listeners: readonly RefusalListener[];
}

/** The request whose credentials were refused. */
export interface UnauthorizedRequest {
  /** The address of the client, if it is known. */
  readonly address: string | undefined;
  /** The headers, and the fields of the query, of which some have the credentials. */
  readonly fields: () => Iterable<readonly [string, string]>;
}

/** The time that refusals for one reason are counted before the next report. */
const REPORT_MS = 60_000;
/** Peers choose parts of some reasons, so there is no end to them. The rest are counted together. */
const MAX_REASONS = 20;
const MAX_REASON = 300;
const OTHER = 'Other reasons.';
/** Characters that begin another line, or command a terminal. */
const CONTROLS = /[\p{Cc}\p{Zl}\p{Zp}]+/gu;

interface Counted {
  readonly status: number;
  count: number;
  address: string | undefined;
}

/** Counts refusals and reports them: the first for each reason at once, and the others together, once a minute. Never the credentials. */
export class RefusedCredentials {
  readonly #parts: RefusedCredentialsParts;
  readonly #hide = hideInText();
  /** The refusals since the last report, by reason. Those that have been reported begin with a count of 0. */
  #counted = new Map<string, Counted>();
  #since = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(parts: RefusedCredentialsParts) {
    this.#parts = parts;
  }

  /** Notes why a request is not served, if that is because of its credentials. */
  note(error: unknown, request: UnauthorizedRequest): void {
    if (!McpError.is(error) || !isRefusal(error)) return;
    const { status } = error;
    const { address } = request;
    const reason = this.#reasonOf(error, request);
    const refused: RefusedCaller = { server: this.#parts.server, status, reason, address };
    if (refusedChannel?.hasSubscribers) refusedChannel.publish(refused);
    for (const { each } of this.#parts.listeners) tell(() => each?.(refused));
    this.#count(refused);
  }

  /** Reports what has not been reported yet. */
  close(): void {
    this.#flush();
  }

  #count({ reason, status, address }: RefusedCaller): void {
    // Some runtimes drop timers between requests.
    if (this.#counted.size > 0 && performance.now() - this.#since > REPORT_MS) this.#flush();
    const key = this.#counted.has(reason) || this.#counted.size < MAX_REASONS ? reason : OTHER;
    const counted = this.#counted.get(key);
    if (counted !== undefined) {
      counted.count++;
      counted.address = address;
      return;
    }
    if (this.#counted.size === 0) this.#start();
    this.#counted.set(key, { status, count: 0, address });
    this.#report(key, { status, count: 1, address });
  }

  #start(): void {
    this.#since = performance.now();
    this.#timer = setTimeout(() => this.#flush(), REPORT_MS);
    unref(this.#timer);
  }

  #flush(): void {
    clearTimeout(this.#timer);
    const counted = this.#counted;
    this.#counted = new Map();
    for (const [reason, one] of counted) {
      if (one.count === 0) continue;
      this.#report(reason, one);
      // A reason that lasts is reported once a minute.
      if (this.#counted.size === 0) this.#start();
      this.#counted.set(reason, { ...one, count: 0 });
    }
  }

  #report(reason: string, { status, count, address }: Counted): void {
    const from = address === undefined ? '' : ` from ${address}`;
    const times = count === 1 ? `a request${from}` : `${count} more requests, the last${from}`;
    tell(() => this.#parts.log('warning', `The credentials of ${times} were refused (${status}): ${reason}`));
    const report = { server: this.#parts.server, status, reason, address, count };
    for (const listener of this.#parts.listeners) tell(() => listener.report?.(report));
  }

  // The error of a provider that a program has made may repeat the credentials, or have line breaks of the peer's.
  #reasonOf({ message }: McpError, request: UnauthorizedRequest): string {
    const words = conceal(message, secretsOf(request), { mask: REDACTED, minLength: 6 });
    return this.#hide(shorten(words.slice(0, 4 * MAX_REASON).replace(CONTROLS, ' '), MAX_REASON));
  }
}

/** The secrets of a request: its token or password, and what is in headers and in the query under the name of a secret. */
function secretsOf({ fields }: UnauthorizedRequest): readonly string[] {
  return [...fields()].flatMap(([name, value]) => (isSecretName(name) ? piecesOf(value) : []));
}

// A logger or a listener that fails must not change the reply, keep the others from hearing, nor end the process.
function tell(report: () => unknown): void {
  try {
    const telling = report();
    if (telling instanceof Promise) telling.catch(() => undefined);
  } catch {
    // The operator's own code failed.
  }
}

/**
 * Whether an error is about the credentials of a request. A request without any is asked for them, which is how each login begins, and so is
 * one that needs a fresh nonce in its proof.
 */
function isRefusal({ status, challenge }: McpError): boolean {
  if (status === 403) return true;
  if (status !== 401) return false;
  return challenge === undefined || (challenge.error !== undefined && challenge.error !== 'use_dpop_nonce');
}
