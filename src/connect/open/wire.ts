import { settlesWithin } from '../../async/deadline.js';
import { McpError } from '../../protocol/errors.js';
import type { TransportName } from '../../protocol/link.js';
import { mutual, sessionRevisions } from '../../protocol/tables/features.js';
import type { Revision } from '../../protocol/tables/revisions.js';
import type { Exchange } from '../../transports/client/exchange.js';
import { exchangeLink } from '../../transports/client/exchange-link.js';
import type { Wire } from '../../transports/client/wire.js';
import { wireExchange } from '../../transports/client/wire-exchange.js';
import type { Era } from '../targets/known-servers.js';
import { Failures } from './attempts.js';
import { discover, type Found } from './discover.js';
import { eraOf, insist, type Opened, type Way, type WayParts } from './eras.js';

// Spec 2026-07-28, stdio, Backward Compatibility; for WebSockets too.

export interface OverWire {
  readonly target: string;
  readonly transport: TransportName;
  readonly probeTimeoutMs: number;
}

export function overWire(makeWire: () => Wire | Promise<Wire>, over: OverWire): Way {
  return async function openOverWire(parts) {
    const { known, revision, open } = parts;
    const era = known?.era ?? (revision && eraOf(revision));
    try {
      return await openOnce(era === 'session');
    } catch (error) {
      // Some servers of the session era end when they are asked what they do not know: those are not asked twice.
      const ended = McpError.is(error) && error.code === 'connection_closed';
      if (!ended || era !== undefined || open.signal.aborted) throw error;
      return openOnce(true);
    }

    async function openOnce(handshakeOnly: boolean): Promise<Opened> {
      const wire = await makeWire();
      const exchange = wireExchange(wire);
      const negotiation = new Negotiation(exchange, parts, over);
      try {
        open.signal.throwIfAborted();
        const opened = handshakeOnly ? negotiation.shakeHands(open.signal) : negotiation.run();
        return await insist(await opened, revision);
      } catch (error) {
        const lastWords = wire.lastWords?.() ?? [];
        const closed = exchange.close();
        // Who has waited long enough does not wait for a process that takes its time to end.
        if (open.signal.aborted) {
          open.leaving?.(closed);
          throw withLastWords(error, lastWords);
        }
        await closed;
        throw error;
      }
    }
  };
}

/** A server that was given up has not said why. What it wrote to standard error may. */
function withLastWords(error: unknown, lines: readonly string[]): unknown {
  if (!McpError.is(error) || error.code !== 'timeout' || lines.length === 0) return error;
  return new McpError('timeout', `${error.message}. It wrote to standard error:\n${lines.join('\n')}`, {
    data: { stderr: lines },
  });
}

/** Finds out, over one exchange, how the server is spoken to. */
class Negotiation {
  readonly #exchange: Exchange;
  readonly #parts: WayParts;
  readonly #over: OverWire;
  /** Which era has the exchange now. While both are tried, what fails must not take it from the other. */
  #taken: Era | undefined;
  /** Why it has ended before anybody had it. */
  #gone: McpError | undefined;

  constructor(exchange: Exchange, parts: WayParts, over: OverWire) {
    this.#exchange = exchange;
    this.#parts = parts;
    this.#over = over;
    this.#hear();
  }

  async run(): Promise<Opened> {
    const { known, revision, open } = this.#parts;
    if (known?.discovered !== undefined)
      return this.#modern({ revision: known.revision, discovered: known.discovered });

    const probing = new AbortController();
    const shaking = new AbortController();
    const either = (one: AbortController): AbortSignal => AbortSignal.any([open.signal, one.signal]);
    const probe = discover(this.#exchange, { ...open, signal: either(probing) }).then((found) =>
      this.#modern(found),
    );
    try {
      if (revision !== undefined || (await settlesWithin(probe, this.#over.probeTimeoutMs)))
        return await probe;
      // Who is silent may be of the session era, or slow to start: the first that works is taken.
      return await Promise.any([probe, this.shakeHands(either(shaking))]);
    } catch (thrown) {
      return await this.#afterProbe(thrown);
    } finally {
      const reason = new McpError('cancelled', 'The server was found to be of another era');
      probing.abort(reason);
      if (this.#taken !== 'session') shaking.abort(reason);
    }
  }

  /** What follows a probe that did not find a modern server. */
  async #afterProbe(thrown: unknown): Promise<Opened> {
    const { open, revision } = this.#parts;
    const { target, transport } = this.#over;
    const failures = new Failures();
    const both = thrown instanceof AggregateError;
    const error = failures.add(both ? thrown.errors[0] : thrown, { target, transport, era: 'modern' });
    const supported = (error.data as { supported?: unknown } | undefined)?.supported;
    const wanted = mutual(sessionRevisions, supported);
    const isFinal =
      revision !== undefined ||
      open.signal.aborted ||
      isGone(error) ||
      (error.code === 'unsupported_version' && Array.isArray(supported) && wanted === undefined);
    if (isFinal) throw error;
    try {
      if (both) throw thrown.errors[1];
      return await this.shakeHands(open.signal, wanted);
    } catch (second) {
      const last = failures.add(second, { target, transport, era: 'session' });
      throw isGone(last) ? last : failures.toError();
    }
  }

  async shakeHands(signal: AbortSignal, wanted?: Revision): Promise<Opened> {
    const { events, open, revision = wanted } = this.#parts;
    const close = async (): Promise<void> => {
      if (this.#taken === 'session') await this.#exchange.close();
    };
    const { openSessionLink } = await import('./session-era.js');
    this.#stillFree();
    const link = await openSessionLink(
      { ...this.#exchange, close },
      {
        events,
        open: { ...open, signal },
        transport: this.#over.transport,
        ...(revision !== undefined && { revision }),
      },
    );
    this.#take('session');
    return { link, era: 'session' };
  }

  #modern({ revision, discovered }: Found): Opened {
    const { transport } = this.#over;
    if (this.#gone !== undefined) throw this.#gone;
    this.#take('modern');
    this.#hear();
    return { link: exchangeLink(this.#exchange, { transport, revision, discovered }), era: 'modern' };
  }

  #take(era: Era): void {
    this.#stillFree();
    this.#taken = era;
  }

  #stillFree(): void {
    if (this.#taken !== undefined) throw new McpError('cancelled', 'The other era came first');
  }

  #hear(): void {
    const { events } = this.#parts;
    this.#exchange.listen({
      // A modern server asks nothing of its own accord.
      request: (method) => Promise.reject(new McpError('method_not_found', `Method not found: ${method}`)),
      notification: events.notification,
      problem: events.problem,
      closed: (reason) => {
        if (this.#taken === undefined) this.#gone = reason;
        else events.lost(reason);
      },
    });
  }
}

function isGone({ code }: McpError): boolean {
  return code === 'connection_closed' || code === 'connect_failed';
}
