import {
  context,
  type MeterProvider,
  SpanKind,
  type TextMapPropagator,
  type Tracer,
  type TracerProvider,
  trace,
} from '@opentelemetry/api';
import type { Call, Middleware } from '../../protocol/call.js';
import { type FilledOptions, type OptionTable, readOptions } from '../../protocol/checks/options.js';
import { shorten } from '../../protocol/encoding/shorten.js';
import type { ClientHost, ClientMiddleware, WideMiddleware } from '../../protocol/telemetry/hosting.js';
import type { HostedMiddleware, MiddlewareHost } from '../../state/hosted-middleware.js';
import { type RefusalListener, withRefusalListeners } from '../../state/refusal-listeners.js';
import { aroundWork } from './around-work.js';
import { addressOf, KnownNames, networkOf, sessionIdOf, sessionOf, transportOf } from './attributes.js';
import { clientFailure, serverFailure } from './endings.js';
import { durations, type RecordDuration, refusals, SCOPE } from './instruments.js';
import { originOf, type RemoteContext } from './trace-context.js';
import { type Side, trackCall } from './track-call.js';

/** The options of `telemetry`. */
export interface TelemetryOptions {
  /** The provider of tracers. Default: the global one, which an SDK registers. */
  readonly tracerProvider?: TracerProvider | undefined;
  /** The provider of meters. Default: the global one, which an SDK registers. */
  readonly meterProvider?: MeterProvider | undefined;
  /** Reads and writes the context of traces. Default: the global one, which an SDK registers. */
  readonly propagator?: TextMapPropagator | undefined;
  /**
   * The use that is made of the context that a peer sends with a call, or with a question. `parent`: the peer's span becomes the
   * parent, and client and server are one trace. `link`: the span is only linked to the peer's. `ignore`: none. Default: `parent`.
   */
  readonly remoteContext?: RemoteContext | undefined;
  /** Whether the arguments and results of tools, and the arguments of prompts, are recorded in spans. Default: false. */
  readonly captureContent?: boolean | undefined;
  /** The number of characters of each of them that are recorded. Default: 4096. */
  readonly maxContentLength?: number | undefined;
}

const optionTable = {
  tracerProvider: 'object',
  meterProvider: 'object',
  propagator: 'object',
  remoteContext: { oneOf: ['parent', 'link', 'ignore'], default: 'parent' },
  captureContent: { is: 'boolean', default: false },
  maxContentLength: { is: 'count', default: 4096 },
} as const satisfies OptionTable<TelemetryOptions>;

/**
 * Records spans and metrics with OpenTelemetry, under the names of its conventions for MCP: `use: [telemetry()]` in the options of a
 * server, of a client, or of both, which then are in one trace. Make it the first middleware, so that it sees the calls that others
 * refuse.
 */
export function telemetry(options: TelemetryOptions = {}): HostedMiddleware & ClientMiddleware {
  const read = readOptions('telemetry', options, optionTable);
  let made: Tracer | undefined;
  const tracer = (): Tracer => {
    // An SDK may be registered later: the global provider has a tracer that waits for it.
    made ??= (read.tracerProvider ?? trace).getTracer(...SCOPE);
    return made;
  };
  const parts = { ...read, tracer, record: durations(read.meterProvider) };
  const unhosted = serverSide(parts);
  const middleware: Middleware = (call, next) => unhosted(call, next);
  const heard: RefusalListener = { each: refusals(read.meterProvider) };
  const hosted = Object.assign(middleware, {
    forServer({ place, defines, onRefused }: MiddlewareHost) {
      if (place.startsWith('tools.')) return toolSide(parts);
      onRefused?.(heard);
      return serverSide(parts, defines);
    },
    forClient: (host: ClientHost) => clientSide(parts, host),
  });
  return withRefusalListeners(hosted, [heard]);
}

type Parts = FilledOptions<TelemetryOptions, typeof optionTable> & Pick<Side, 'tracer' | 'record'>;

function serverSide(parts: Parts, defines?: MiddlewareHost['defines']): WideMiddleware {
  const { record, propagator, remoteContext } = parts;
  const watch = sessionWatch(record);
  const known = new KnownNames();
  const side: Side = {
    ...parts,
    kind: SpanKind.SERVER,
    isKnown: defines ?? ((call, end) => known.note(call, end)),
    origin: (call) => originOf(call, propagator, remoteContext),
    failure: (error, { peer }) => serverFailure(error, peer.revision),
    facts(call) {
      const { id, peer, http } = call;
      const transport = transportOf(call);
      const version = transport === 'websocket' ? undefined : http?.version;
      const metric = networkOf(transport);
      metric['mcp.protocol.version'] = peer.revision;
      if (version !== undefined) metric['network.protocol.version'] = version;
      const span = sessionOf(sessionIdOf(call));
      span['jsonrpc.request.id'] = shorten(String(id), 128);
      if (http?.remoteAddress !== undefined) span['client.address'] = http.remoteAddress;
      return { metric, span };
    },
  };
  const serve: Middleware = (call, next) => {
    watch(call);
    return trackCall(side, call, next);
  };
  return Object.assign(serve, { around: aroundWork(parts) });
}

/** In the middleware of a single tool, a call has its span already: the tool gets one inside of it. */
function toolSide(parts: Parts): Middleware {
  const around = aroundWork(parts);
  return function telemetry(call, next) {
    return around({ kind: 'tool', name: String(call.params['name']), call }, () => next(call));
  };
}

function clientSide(parts: Parts, { target, link }: ClientHost): WideMiddleware {
  const { record } = parts;
  const address = addressOf(target);
  const known = new KnownNames();
  const side: Side = {
    ...parts,
    kind: SpanKind.CLIENT,
    isKnown: (call, end) => known.note(call, end),
    origin: () => ({ parent: context.active(), links: [] }),
    failure: (error) => clientFailure(error, link()?.transport === 'in-process'),
    facts(call) {
      const current = link();
      return {
        metric: {
          ...(current && { 'mcp.protocol.version': current.revision }),
          ...networkOf(current?.transport),
          ...address,
        },
        span: sessionOf(current && sessionIdOf(call, current)),
      };
    },
  };
  const send: Middleware = (call, next) => trackCall(side, call, next);
  return Object.assign(send, {
    around: aroundWork(parts),
    onSession: ({ revision, transport }: { readonly revision: string; readonly transport: string }) => {
      const startedAt = performance.now();
      return (lost?: { readonly code: string }) =>
        record('client', 'session', startedAt, {
          'mcp.protocol.version': revision,
          ...networkOf(transport),
          ...address,
          ...(lost && { 'error.type': lost.code }),
        });
    },
  });
}

/** Records how long sessions last, from their first calls. */
function sessionWatch(record: RecordDuration): (call: Call) => void {
  const seen = new WeakSet<object>();
  return function watch({ via, peer }) {
    const session = via?.session;
    if (session === undefined || seen.has(session)) return;
    seen.add(session);
    const startedAt = performance.now();
    const attributes = { 'mcp.protocol.version': peer.revision, ...networkOf(via?.transport) };
    session.onEnd(() => record('server', 'session', startedAt, attributes));
  };
}
