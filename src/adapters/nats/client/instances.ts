// The instances of a service that work on requests of this client: whether they are alive, and messages to each.

import type { ByNumber } from '../../../jsonrpc/by-number.js';
import { cancelReason, McpError } from '../../../protocol/errors.js';
import type { NatsMessage } from '../connection/nats-types.js';
import { kindOf, NO_RESPONDERS, withKind } from '../link/frames.js';
import { Pulse } from '../link/pulse.js';
import { splitSubject } from '../link/subjects.js';
import type { NatsExchangeParts, OpenNatsRequest } from './open-request.js';

interface InstancesParts extends NatsExchangeParts {
  readonly open: ByNumber<OpenNatsRequest>;
  readonly settle: (entry: OpenNatsRequest) => boolean;
  readonly fail: (entry: OpenNatsRequest, error: McpError) => void;
}

/** An instance that is silent for this many intervals is dead. */
const MAX_SILENT_BEATS = 3;
const BEAT = 'beat-';

/**
 * Watches the instances. While requests are open, each instance that works on one gets a sign of life at intervals and answers with
 * its open calls. If it was killed, NATS says at once that nobody listens; if it was stopped, its silence says so.
 */
export class Instances {
  readonly #parts: InstancesParts;
  readonly #pulse: Pulse;
  /** When each instance with open requests was last heard. */
  readonly #heardAt = new Map<string, number>();

  constructor(parts: InstancesParts) {
    this.#parts = parts;
    this.#pulse = new Pulse(parts.keepAliveMs, (wasStopped) => this.#beat(wasStopped));
  }

  /** Called when a request was opened. */
  watch(): void {
    this.#pulse.start();
  }

  stop(): void {
    this.#pulse.stop();
    this.#heardAt.clear();
  }

  /** An instance has accepted a request. */
  accept(entry: OpenNatsRequest, { reply = '' }: NatsMessage): void {
    const { client, subjects, newHeaders } = this.#parts;
    const { last: id } = splitSubject(reply);
    // Nobody can make this client write to a subject outside of the service.
    if (reply !== subjects.instance(id) || entry.instance !== undefined) return;
    entry.instance = id;
    this.#heardAt.set(id, performance.now());
    const { rest } = entry;
    entry.rest = [];
    for (const [at, part] of rest.entries()) {
      const headers = withKind(newHeaders(), 'part', { at: at + 1, count: rest.length + 1 });
      client.nc.publish(reply, part, { reply: entry.reply, headers });
    }
  }

  /** Tells the instance that works on a request, or all if none has accepted it yet, that it is cancelled. */
  cancel({ instance, reply, request }: OpenNatsRequest): void {
    const { client, subjects, newHeaders } = this.#parts;
    const to = instance === undefined ? subjects.all : subjects.instance(instance);
    const { signal } = request;
    const reason = signal.aborted ? cancelReason(signal.reason) : '';
    client.nc.publish(to, reason, { reply, headers: withKind(newHeaders(), 'cancel') });
  }

  /** Takes the answer to a sign of life, or NATS' own, that nobody listens. */
  receive(last: string, message: NatsMessage): void {
    if (!last.startsWith(BEAT)) return;
    const id = last.slice(BEAT.length);
    if (!this.#heardAt.has(id)) return;
    if (message.headers?.code === NO_RESPONDERS) return this.#lose(id, 'has ended');
    if (kindOf(message.headers) !== 'beat') return;
    this.#heardAt.set(id, performance.now());
    // The messages of an instance arrive in order, so a call that it has ended has its response by now, unless that was lost.
    const ids = new Set(new TextDecoder().decode(message.data).split(','));
    for (const entry of this.#requestsOf(id))
      if (!ids.has(String(entry.id)))
        this.#parts.fail(
          entry,
          lost(
            `The response of the service "${this.#parts.subjects.service}" to ${entry.request.method} was lost.`,
          ),
        );
  }

  #beat(wasStopped: boolean): void {
    const { open, client, inbox, subjects, newHeaders, keepAliveMs } = this.#parts;
    const now = performance.now();
    const entries = open.all();
    if (entries.length === 0) return this.stop();
    const used = new Set(entries.map(({ instance }) => instance));
    for (const [id, heardAt] of this.#heardAt) {
      if (!used.has(id)) this.#heardAt.delete(id);
      else if (!wasStopped && now - heardAt > MAX_SILENT_BEATS * keepAliveMs)
        this.#lose(id, 'does not respond any more');
      else {
        if (wasStopped) this.#heardAt.set(id, now);
        const headers = withKind(newHeaders(), 'beat');
        client.nc.publish(subjects.instance(id), '', { reply: `${inbox}.${BEAT}${id}`, headers });
      }
    }
    if (wasStopped) return;
    for (const entry of entries) {
      if (entry.instance !== undefined || now - entry.sentAt <= MAX_SILENT_BEATS * keepAliveMs) continue;
      this.cancel(entry);
      this.#parts.fail(
        entry,
        lost(`No instance of the service "${subjects.service}" has accepted ${entry.request.method}.`),
      );
    }
  }

  #lose(id: string, what: string): void {
    const { service } = this.#parts.subjects;
    this.#heardAt.delete(id);
    for (const entry of this.#requestsOf(id)) {
      this.cancel(entry);
      this.#parts.fail(entry, lost(`The instance ${id} of the service "${service}" ${what}.`));
    }
  }

  #requestsOf(id: string): readonly OpenNatsRequest[] {
    return this.#parts.open.all().filter(({ instance }) => instance === id);
  }
}

function lost(why: string): McpError {
  return new McpError('connection_closed', `${why} It is not known whether the call took effect.`);
}
