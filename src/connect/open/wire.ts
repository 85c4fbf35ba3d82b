// Opens a link over a wire (a process's pipes, a WebSocket) and finds out the era of the server.

import { settlesWithin } from '../../async/deadline.js';
import type { TransportName } from '../../protocol/call.js';
import { McpError } from '../../protocol/errors.js';
import type { Link, LinkEvents } from '../../protocol/link.js';
import { mutual, sessionRevisions } from '../../protocol/tables/features.js';
import type { Revision } from '../../protocol/tables/revisions.js';
import { type DiscoveredServer, discover } from '../../transports/client/discover.js';
import type { Exchange } from '../../transports/client/exchange.js';
import { exchangeLink } from '../../transports/client/exchange-link.js';
import type { Wire } from '../../transports/client/wire.js';
import { wireExchange } from '../../transports/client/wire-exchange.js';
import type { Era } from '../targets/known-servers.js';
import { Attempts } from './attempts.js';
import { type EraOptions, eraOf, type OpenAnyEra, requireRevision } from './eras.js';

// Spec 2026-07-28, stdio, Backward Compatibility; WebSockets are treated the same way.

export interface OverWire {
  readonly target: string;
  readonly transport: TransportName;
  readonly probeTimeoutMs: number;
}

export function overWire(makeWire: () => Wire | Promise<Wire>, over: OverWire): OpenAnyEra {
  return async function openOverWire(events, open) {
    const { known, revision } = open;
    const era = known?.era ?? (revision && eraOf(revision));
    try {
      return await openOnce(era === 'session');
    } catch (error) {
      // Some servers of the session era exit on a request that they do not know, so only the handshake is tried again.
      const isEnded = McpError.is(error) && error.code === 'connection_closed';
      if (!isEnded || era !== undefined || open.signal.aborted) throw error;
      return openOnce(true);
    }

    async function openOnce(handshakeOnly: boolean): Promise<Link> {
      const wire = await makeWire();
      const exchange = wireExchange(wire);
      const negotiation = new Negotiation(exchange, { events, open, over });
      try {
        open.signal.throwIfAborted();
        const opening = handshakeOnly ? negotiation.handshake(open.signal) : negotiation.run();
        return await requireRevision(await opening, revision);
      } catch (error) {
        const lastLines = wire.lastLines?.() ?? [];
        const closed = exchange.close();
        // The caller has aborted and does not wait for a process that is slow to end.
        if (open.signal.aborted) {
          open.waitUntil?.(closed);
          throw withLastLines(error, lastLines);
        }
        await closed;
        throw error;
      }
    }
  };
}

/** Adds the server's last lines on standard error to a timeout error: they may explain it. */
function withLastLines(error: unknown, lines: readonly string[]): unknown {
  if (!McpError.is(error) || error.code !== 'timeout' || lines.length === 0) return error;
  return new McpError('timeout', `${error.message}. It wrote to standard error:\n${lines.join('\n')}`, {
    data: { stderr: lines },
  });
}

interface NegotiationParts {
  readonly events: LinkEvents;
  readonly open: EraOptions;
  readonly over: OverWire;
}

/** Finds out the era of the server over one exchange. */
class Negotiation {
  readonly #exchange: Exchange;
  readonly #parts: NegotiationParts;
  /** The era that owns the exchange. While both are tried, an era that fails must not close it for the other. */
  #owner: Era | undefined;
  /** The reason why the exchange closed before it had an owner. */
  #closeReason: McpError | undefined;

  constructor(exchange: Exchange, parts: NegotiationParts) {
    this.#exchange = exchange;
    this.#parts = parts;
    this.#listen();
  }

  async run(): Promise<Link> {
    const { open, over } = this.#parts;
    const { known, revision } = open;
    if (known?.discovered !== undefined)
      return this.#modern({ revision: known.revision, discovered: known.discovered });

    const probing = new AbortController();
    const handshaking = new AbortController();
    const either = (own: AbortController): AbortSignal => AbortSignal.any([open.signal, own.signal]);
    const probe = discover(this.#exchange, { ...open, signal: either(probing) }).then((server) =>
      this.#modern(server),
    );
    try {
      if (revision !== undefined || (await settlesWithin(probe, over.probeTimeoutMs))) return await probe;
      // A silent server may be of the session era, or slow to start: the first era that works is taken.
      return await Promise.any([probe, this.handshake(either(handshaking))]);
    } catch (thrown) {
      return await this.#afterProbe(thrown);
    } finally {
      const reason = new McpError('cancelled', 'The server was found to be of another era');
      probing.abort(reason);
      if (this.#owner !== 'session') handshaking.abort(reason);
    }
  }

  /** Continues after a probe that did not find a modern server. */
  async #afterProbe(thrown: unknown): Promise<Link> {
    const { open, over } = this.#parts;
    const { revision } = open;
    const { target, transport } = over;
    const attempts = new Attempts();
    const bothFailed = thrown instanceof AggregateError;
    const error = attempts.add(bothFailed ? thrown.errors[0] : thrown, { target, transport, era: 'modern' });
    const supported = (error.data as { supported?: unknown } | undefined)?.supported;
    const sessionRevision = mutual(sessionRevisions, supported);
    const isFinal =
      revision !== undefined ||
      open.signal.aborted ||
      isClosed(error) ||
      (error.code === 'unsupported_version' && Array.isArray(supported) && sessionRevision === undefined);
    if (isFinal) throw error;
    try {
      if (bothFailed) throw thrown.errors[1];
      return await this.handshake(open.signal, sessionRevision);
    } catch (second) {
      const last = attempts.add(second, { target, transport, era: 'session' });
      throw isClosed(last) ? last : attempts.toError();
    }
  }

  async handshake(signal: AbortSignal, sessionRevision?: Revision): Promise<Link> {
    const { events, open, over } = this.#parts;
    const { revision = sessionRevision } = open;
    const close = async (): Promise<void> => {
      if (this.#owner === 'session') await this.#exchange.close();
    };
    const { openSessionLink } = await import('./session-era.js');
    this.#ensureFree();
    const link = await openSessionLink(
      { ...this.#exchange, close },
      {
        events,
        open: { ...open, signal },
        transport: over.transport,
        ...(revision !== undefined && { revision }),
      },
    );
    this.#own('session');
    return link;
  }

  #modern({ revision, discovered }: DiscoveredServer): Link {
    const { transport } = this.#parts.over;
    if (this.#closeReason !== undefined) throw this.#closeReason;
    this.#own('modern');
    this.#listen();
    return exchangeLink(this.#exchange, { transport, revision, discovered });
  }

  #own(era: Era): void {
    this.#ensureFree();
    this.#owner = era;
  }

  #ensureFree(): void {
    if (this.#owner !== undefined) throw new McpError('cancelled', 'The other era was found first');
  }

  #listen(): void {
    const { events } = this.#parts;
    this.#exchange.listen({
      // A modern server sends no requests.
      request: (method) => Promise.reject(new McpError('method_not_found', `Method not found: ${method}`)),
      notification: events.notification,
      problem: events.problem,
      closed: (reason) => {
        if (this.#owner === undefined) this.#closeReason = reason;
        else events.lost(reason);
      },
    });
  }
}

function isClosed({ code }: McpError): boolean {
  return code === 'connection_closed' || code === 'connect_failed';
}
