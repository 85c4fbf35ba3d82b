// Opens a link over a wire (a process's pipes, a WebSocket) and finds out the era of the server.

import { settlesWithin } from '../../async/deadline.js';
import { nextTurn } from '../../async/next-turn.js';
import type { TransportName } from '../../protocol/call.js';
import { McpError } from '../../protocol/errors.js';
import type { Link, LinkEvents } from '../../protocol/link.js';
import { notFound } from '../../protocol/not-found.js';
import { mutual, sessionRevisions } from '../../protocol/tables/features.js';
import type { Revision } from '../../protocol/tables/revisions.js';
import { type DiscoveredServer, discover } from '../../transports/client/discover.js';
import type { Exchange, ExchangeEvents } from '../../transports/client/exchange.js';
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

/** A probe that was not answered in time, and the way to send it again. */
interface Both {
  readonly probe: Promise<DiscoveredServer>;
  readonly ask: () => Promise<DiscoveredServer>;
  /** Ends the handshake. */
  readonly signal: AbortSignal;
}

interface Handshake {
  /** The revision to ask for, if the server has named its versions. */
  readonly sessionRevision?: Revision | undefined;
  /** Called when the request is on its way. */
  readonly sent?: () => void;
  /** Called when the server has accepted the handshake, before the session begins. Rejects if it must not begin. */
  readonly before?: () => Promise<void>;
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
    const ask = (): Promise<DiscoveredServer> =>
      discover(this.#exchange, { ...open, signal: either(probing) });
    const probe = ask();
    try {
      if (revision !== undefined || (await settlesWithin(probe, over.probeTimeoutMs)))
        return this.#modern(await probe);
      return await this.#tryBoth({ probe, ask, signal: either(handshaking) });
    } catch (thrown) {
      return await this.#afterProbe(thrown);
    } finally {
      const reason = new McpError('cancelled', 'The server was found to be of another era');
      probing.abort(reason);
      if (this.#owner !== 'session') handshaking.abort(reason);
    }
  }

  /**
   * Sends the handshake behind a probe that was not answered in time: the server may be of the session era, or slow to start.
   * A slow server that knows both eras answers both requests, and some then keep to the era of the last one. So after the
   * handshake, an answer to the probe is not enough: the server is asked again, and is modern if it answers again.
   */
  async #tryBoth({ probe, ask, signal }: Both): Promise<Link> {
    const { answerWith } = await import('./session-era.js');
    if (await settlesWithin(probe, 0)) return this.#modern(await probe);
    let secondProbe: Promise<DiscoveredServer> | undefined;
    // The session begins only if the server is not modern. A server that ignores the second probe is not.
    const before = async (): Promise<void> => {
      // Responses that arrive together are read in one turn. The server has read the probe before the handshake.
      await new Promise<void>(nextTurn);
      if (secondProbe !== undefined) await settlesWithin(secondProbe, this.#parts.over.probeTimeoutMs);
      this.#ensureFree();
    };
    let session: Promise<Link> | undefined;
    const handshakeSent = new Promise<void>((sent) => {
      session = this.handshake(signal, { sent, before });
    });
    const modern = Promise.all([probe, handshakeSent]).then(async () => {
      secondProbe = ask();
      return this.#modern(await secondProbe, answerWith(this.#parts.events));
    });
    return Promise.any([modern, session as Promise<Link>]);
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
      return await this.handshake(open.signal, { sessionRevision });
    } catch (second) {
      const last = attempts.add(second, { target, transport, era: 'session' });
      throw isClosed(last) ? last : attempts.toError();
    }
  }

  async handshake(signal: AbortSignal, { sessionRevision, sent, before }: Handshake = {}): Promise<Link> {
    const { events, open, over } = this.#parts;
    const { revision = sessionRevision } = open;
    const exchange = this.#exchange;
    const { openSessionLink } = await import('./session-era.js');
    this.#ensureFree();
    const shared: Exchange = {
      ...exchange,
      listen: (listener) =>
        exchange.listen({
          ...listener,
          closed: (reason) => {
            if (this.#owner === undefined) this.#closeReason = reason;
            listener.closed(reason);
          },
        }),
      async request(outgoing) {
        const response = exchange.request(outgoing);
        if (outgoing.method !== 'initialize') return response;
        sent?.();
        const result = await response;
        await before?.();
        return result;
      },
      close: async () => {
        if (this.#owner === 'session') await exchange.close();
      },
    };
    const link = await openSessionLink(shared, {
      events,
      open: { ...open, signal },
      transport: over.transport,
      ...(revision !== undefined && { revision }),
    });
    this.#own('session');
    return link;
  }

  #modern({ revision, discovered }: DiscoveredServer, answer?: ExchangeEvents['request']): Link {
    const { transport } = this.#parts.over;
    if (this.#closeReason !== undefined) throw this.#closeReason;
    this.#own('modern');
    this.#listen(answer);
    return exchangeLink(this.#exchange, { transport, revision, discovered });
  }

  #own(era: Era): void {
    this.#ensureFree();
    this.#owner = era;
  }

  #ensureFree(): void {
    if (this.#owner !== undefined) throw new McpError('cancelled', 'The other era was found first');
  }

  /** Listens to a server that is modern, or not known yet. A modern server sends no requests. */
  #listen(answer: ExchangeEvents['request'] = rejectRequest): void {
    const { events } = this.#parts;
    this.#exchange.listen({
      request: answer,
      notification: events.notification,
      problem: events.problem,
      closed: (reason) => {
        if (this.#owner === undefined) this.#closeReason = reason;
        else events.lost(reason);
      },
    });
  }
}

function rejectRequest(method: string): Promise<never> {
  return Promise.reject(notFound('method', method));
}

function isClosed({ code }: McpError): boolean {
  return code === 'connection_closed' || code === 'connect_failed';
}
