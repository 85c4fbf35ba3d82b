// The clients that have open calls: whether they are alive, and which of their calls they know to be accepted.

import { unref } from '../../../async/unref.js';
import { Pulse } from '../link/pulse.js';
import { splitSubject } from '../link/subjects.js';
import { connectionLost, type NatsCalls } from './calls.js';
import type { Uploads } from './uploads.js';

export interface CallersParts {
  readonly calls: NatsCalls;
  readonly uploads: Uploads;
  readonly keepAliveMs: number;
  /** Tells the client of a call that this instance works on it. */
  readonly accept: (reply: string) => void;
}

/** A client that is silent for this many intervals is gone. */
const MAX_SILENT_BEATS = 5;
/** Most calls end sooner than this. The others are accepted, so that their clients know whom to watch. */
const ACCEPT_AFTER_MS = 50;

/** The clients of an instance, by the inboxes that they read. */
export class Callers {
  readonly #parts: CallersParts;
  readonly #pulse: Pulse;
  readonly #heardAt = new Map<string, number>();
  /** The replies of calls that are not accepted yet, oldest first. */
  #unaccepted: string[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(parts: CallersParts) {
    this.#parts = parts;
    this.#pulse = new Pulse(parts.keepAliveMs, (wasStopped) => this.#beat(wasStopped));
  }

  /** A call or an upload of a client has begun. */
  opened(reply: string): void {
    this.#heardAt.set(splitSubject(reply).rest, performance.now());
    this.#pulse.start();
    if (this.#parts.calls.has(reply)) this.#acceptLater(reply);
  }

  /** A sign of life of a client has arrived. Returns the ids of its open calls. */
  heard(reply: string): readonly string[] {
    const { calls, uploads } = this.#parts;
    const { rest: inbox } = splitSubject(reply);
    if (this.#heardAt.has(inbox)) this.#heardAt.set(inbox, performance.now());
    const waiting = [...uploads.replies()].map(splitSubject).filter(({ rest }) => rest === inbox);
    return [...calls.idsOf(inbox), ...waiting.map(({ last }) => last)];
  }

  stop(): void {
    this.#pulse.stop();
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #acceptLater(reply: string): void {
    this.#unaccepted.push(reply);
    if (this.#timer !== undefined) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      const replies = this.#unaccepted;
      this.#unaccepted = [];
      for (const one of replies) if (this.#parts.calls.has(one)) this.#parts.accept(one);
    }, ACCEPT_AFTER_MS);
    unref(this.#timer);
  }

  #beat(wasStopped: boolean): void {
    const { calls, uploads, keepAliveMs } = this.#parts;
    const now = performance.now();
    uploads.dropOlderThan(MAX_SILENT_BEATS * keepAliveMs);
    const used = new Set<string>();
    for (const reply of uploads.replies()) used.add(splitSubject(reply).rest);
    for (const { reply } of calls.all()) {
      const { rest: inbox } = splitSubject(reply);
      used.add(inbox);
      const silentMs = now - (this.#heardAt.get(inbox) ?? now);
      if (wasStopped) this.#heardAt.set(inbox, now);
      else if (silentMs > MAX_SILENT_BEATS * keepAliveMs)
        calls.cancel(reply, connectionLost('The client does not respond any more'));
    }
    for (const inbox of this.#heardAt.keys()) if (!used.has(inbox)) this.#heardAt.delete(inbox);
    if (used.size === 0) this.#pulse.stop();
  }
}
