import { isObject, type JsonObject } from '../jsonrpc/message.js';
import type { Outcome } from '../protocol/call.js';
import type { CodeOptions } from '../protocol/code/code-options.js';
import { shorten } from '../protocol/encoding/shorten.js';
import { McpError } from '../protocol/errors.js';
import type { Link, LinkEvents, OpenLink } from '../protocol/link.js';
import { SERVER_INFO } from '../protocol/meta.js';
import type { Discovered, Implementation, ServerCapabilities } from '../protocol/model/model.js';
import { TASKS } from '../protocol/tasks.js';
import { aroundOf, hostInClient } from '../protocol/telemetry/hosting.js';
import { questionEvents } from '../protocol/telemetry/tracing.js';
import type { answerWith } from './answering/answer-with.js';
import { capabilitiesOf, keyOf } from './answering/answering.js';
import { staleBy, uniqueKey } from './calls/caching.js';
import { CallSender, type ReadOutcome, type SendOptions } from './calls/call-sender.js';
import { listing, toListing } from './calls/listing.js';
import {
  requireComplete,
  toCompletion,
  toPromptResult,
  toReadResult,
  withSource,
} from './calls/read-results.js';
import { KnownTools } from './checks/known-tools.js';
import { Activity } from './connection/activity.js';
import { Connection } from './connection/connection.js';
import { EventHub } from './connection/event-hub.js';
import { onSession } from './connection/on-session.js';
import type { ClientEventsOf } from './events/client-events.js';
import type {
  Client,
  ClientCode,
  Completion,
  Listing,
  PromptResult,
  ReadResult,
  ServerFacts,
} from './model/client.js';
import type { AnswerQuestion } from './model/handlers.js';
import { type CallOptions, type ClientOptions, fullmcp, settingsOf, toLogMessage } from './model/options.js';
import { ResultCache } from './model/result-cache.js';
import type { Listening } from './subscriptions/listening.js';
import { toolCalls } from './tasks/tool-calls.js';

// Puts a client together: the connection, the call sender and the methods that a program calls.

export interface CreateClientParts {
  readonly open: OpenLink;
  /** The server's address for people: a URL without secrets, or a command. */
  readonly target: string;
  /** A key that no other server has, for a cache that clients share. Without a key, nothing is shared. */
  readonly cacheKey?: string | undefined;
  readonly options: ClientOptions;
  readonly signal?: AbortSignal | undefined;
  readonly connectTimeoutMs?: number | undefined;
}

/** Opens the link and returns a client that is ready. */
export async function createClient(parts: CreateClientParts): Promise<Client> {
  const { open, target, options, signal, connectTimeoutMs = 30_000, cacheKey = uniqueKey() } = parts;
  const { client: identity = fullmcp, reconnect = true, cache = true } = options;
  const { extensions = [] } = options;
  const use = hostInClient(
    [options, ...extensions].flatMap((each) => each.use ?? []),
    {
      target,
      link: () => connection.link as Link | undefined,
      forget: (method) => results?.invalidate(cacheKey, { method }),
    },
  );
  const around = aroundOf(use);
  const hub = new EventHub();
  const activity = new Activity();
  const knownTools = new KnownTools(hub.problem);
  const results = cache === true ? new ResultCache() : cache || undefined;
  const { maxRounds = 10 } = options;
  const peer = {
    client: identity,
    capabilities: {
      ...capabilitiesOf(options),
      ...(options.experimental && { experimental: options.experimental }),
      extensions: settingsOf([{ id: TASKS }, ...extensions]),
    },
  };
  if (options.onLog) hub.on('log', options.onLog);

  function notification(method: string, params: JsonObject | undefined): void {
    activity.heard();
    for (const stale of staleBy(method, params)) results?.invalidate(cacheKey, stale);
    const message = method === 'notifications/message' ? toLogMessage(params) : undefined;
    if (message) hub.emit('log', message);
    hub.emit('notification', { method, params });
  }

  let answerQuestion: ReturnType<typeof answerWith> | undefined;
  async function answerAs(
    server: string,
    ...[request, context]: Parameters<AnswerQuestion>
  ): Promise<JsonObject> {
    answerQuestion ??= (await import('./answering/answer-with.js')).answerWith(options, {
      maxRounds,
      problem: hub.problem,
    });
    const run = answerQuestion;
    const work = (): Promise<JsonObject> => run(request, { ...context, server });
    const answerWork = around === undefined ? work : () => around({ kind: 'question', request }, work);
    return questionEvents?.hasSubscribers
      ? questionEvents.tracePromise(answerWork, { side: 'client', key: context.key, request })
      : answerWork();
  }
  const answer: AnswerQuestion = (request, context) => answerAs(serverName(), request, context);

  const linkEvents: Omit<LinkEvents, 'lost'> = {
    notification,
    problem: hub.problem,
    ask(request, questionSignal, server = serverName()) {
      activity.heard();
      const context = { key: keyOf(request), signal: questionSignal };
      return sender.whileAsking(() => answerAs(server, request, context));
    },
    whileAsking: (work) => sender.whileAsking(work),
  };
  const connection = new Connection({
    open,
    client: peer,
    reconnect: reconnect === true ? {} : reconnect || undefined,
    connectTimeoutMs,
    events: linkEvents,
    onOpen: onSession(use, target),
    onStatus(status, reason) {
      if (status === 'closed') end(reason ?? new McpError('connection_closed', 'The client was closed'));
      hub.emit('status', { status, ...(reason && { reason }) });
    },
    onFailure: (reason) => activity.failed(reason),
  });
  const sender = new CallSender({
    options,
    use,
    target,
    dispatch: (call) => connection.dispatch(call),
    peer,
    hub,
    knownTools,
    caching: results && { cache: results, serverKey: cacheKey, clientKey: uniqueKey() },
    answer,
    activity,
    serverOf,
  });
  // Loaded with the first subscription: many clients have none.
  let listening: Promise<Listening> | undefined;
  let isClosed = false;
  async function startListening(): Promise<Listening> {
    const { listeningOf } = await import('./subscriptions/listen-request.js');
    const stream = listeningOf({ sender, connection, hub, notification, options });
    if (isClosed) stream.close();
    return stream;
  }

  // Loaded with the first list of events, or the first subscription to them.
  let events: Promise<ClientEventsOf> | undefined;
  function eventsOf(): Promise<ClientEventsOf> {
    events ??= import('./events/client-events.js').then(
      (module) => new module.ClientEventsOf({ sender, hub, connection, list, target, options }),
    );
    return events;
  }

  /** With two arguments, `on` is about the client itself; with more, about the events of the server. */
  function on(...args: Parameters<ClientEventsOf['on']>): unknown {
    return typeof args[1] === 'function'
      ? hub.on(...(args as unknown as Parameters<typeof hub.on>))
      : eventsOf().then((all) => all.on(...args));
  }

  function end(reason: McpError): void {
    isClosed = true;
    void listening?.then((stream) => stream.close());
    sender.close(reason);
  }

  function list<T>(
    method: string,
    field: string,
    capability: keyof ServerCapabilities,
    callOptions?: CallOptions,
  ): Listing<T> {
    async function fetchPage(params: JsonObject, isAgain: boolean): Promise<Outcome> {
      try {
        return await sender.sendFresh(
          method,
          params,
          isAgain ? { ...callOptions, fresh: true } : callOptions,
        );
      } catch (error) {
        // A server without the method has an empty list, whatever it declares: many declare resources and have no templates.
        if (!McpError.is(error) || error.code !== 'method_not_found') throw error;
        if (facts().capabilities[capability] !== undefined && field !== 'resourceTemplates')
          hub.problem(`The server declares ${capability} but does not support ${method}`, error);
        return { resultType: 'complete', [field]: [] };
      }
    }
    return listing(field, { fetchPage, problem: hub.problem });
  }

  const tools = toolCalls({
    sender,
    knownTools,
    answer,
    maxRounds,
    maxTimeoutMs: options.maxTimeoutMs,
    problem: hub.problem,
    serverOf,
  });

  /** A function that sends a call and reads its result. */
  function asking<T extends object>(method: string, toResult: (outcome: Outcome) => Omit<T, 'source'>) {
    const read: ReadOutcome<T> = (outcome, call) =>
      withSource<T>(toResult(requireComplete(outcome)), sender.sourceOf(call, outcome));
    return (params: JsonObject, callOptions?: SendOptions): Promise<T> =>
      sender.sendFresh(method, params, callOptions, read);
  }
  const askToRead = asking<ReadResult>('resources/read', toReadResult);
  const askForPrompt = asking<PromptResult>('prompts/get', toPromptResult);
  const askToComplete = asking<Completion>('completion/complete', toCompletion);

  // Some servers ask before the handshake is complete, when there is no link yet.
  function serverName(): string {
    const info = (connection.link as Link | undefined) && facts().info;
    return info?.title ?? info?.name ?? target;
  }

  // Read with every result, and the same for all calls on a link.
  let named: { readonly discovered: Discovered; readonly name: string } | undefined;
  function serverOf(settled: unknown): string {
    const link = connection.link as Link | undefined;
    if (link?.serverOf !== undefined) return link.serverOf(settled) ?? target;
    if (link === undefined) return target;
    const { discovered } = link;
    if (named?.discovered !== discovered)
      named = { discovered, name: shorten(facts().info?.name ?? target, 128) };
    return named.name;
  }

  function facts(): ServerFacts {
    const { discovered, revision } = connection.link;
    const info = isObject(discovered._meta) ? discovered._meta[SERVER_INFO] : undefined;
    return {
      info: isObject(info) ? (info as unknown as Implementation) : undefined,
      capabilities: discovered.capabilities,
      instructions: discovered.instructions,
      revision,
    };
  }

  const close = (): Promise<void> => connection.close();
  await connection.start(signal);

  const made: Client = {
    get status() {
      return connection.status;
    },
    get server() {
      return facts();
    },
    ...tools,
    tools: (callOptions) => list('tools/list', 'tools', 'tools', callOptions),
    resources: (callOptions) => list('resources/list', 'resources', 'resources', callOptions),
    templates: (callOptions) =>
      list('resources/templates/list', 'resourceTemplates', 'resources', callOptions),
    prompts: (callOptions) => list('prompts/list', 'prompts', 'prompts', callOptions),
    events: (callOptions) =>
      toListing(async function* () {
        yield* (await eventsOf()).list(callOptions);
      }),
    readResource: (uri, callOptions) => askToRead({ uri }, callOptions),
    getPrompt: (name, args, callOptions) =>
      askForPrompt({ name, ...(args && { arguments: args }) }, callOptions),
    async complete({ prompt, template, argument, value, filled }, callOptions) {
      const ref =
        prompt === undefined ? { type: 'ref/resource', uri: template } : { type: 'ref/prompt', name: prompt };
      const context = filled && { context: { arguments: filled } };
      return askToComplete({ ref, argument: { name: argument, value }, ...context }, callOptions);
    },
    async subscribe(to, subscribeOptions = {}) {
      listening ??= startListening();
      return (await listening).subscribe(typeof to === 'string' ? { uris: [to] } : to, subscribeOptions);
    },
    request: (method, params = {}, callOptions = {}) => sender.send(method, params, callOptions),
    async ping(callOptions) {
      const startedAt = performance.now();
      await sender.sendFresh('server/discover', {}, { ...callOptions, skipMiddleware: true });
      return performance.now() - startedAt;
    },
    setLogLevel(level) {
      sender.logLevel = level;
    },
    async rootsChanged() {
      if (connection.link.expectsRootChanges)
        await sender.sendFresh('notifications/roots/list_changed', {}, { skipMiddleware: true });
    },
    pending: () => sender.pending(),
    info: () => ({
      status: connection.status,
      transport: connection.link.transport,
      target,
      revision: connection.link.revision,
      server: facts(),
      connectedAt: new Date(connection.connectedAt).toISOString(),
      lastActivityAt: new Date(activity.heardAt).toISOString(),
      lastError: activity.lastError,
      pending: sender.pending().length,
      reconnects: connection.reconnects,
      problems: [...hub.problems],
    }),
    code: async (codeOptions) => codeOf(codeOptions, { client: made, elicit: options.elicit }),
    on: on as Client['on'],
    close,
    [Symbol.asyncDispose]: close,
  };
  return made;
}

/** Makes the tools of code mode. The engine brings everything that other clients do not need. */
function codeOf(
  options: CodeOptions,
  parts: { readonly client: Client; readonly elicit: ClientOptions['elicit'] },
): Promise<ClientCode> {
  const make = options?.engine?.['~client'] as undefined | ((of: object) => Promise<ClientCode>);
  if (make === undefined) throw new TypeError('client.code needs an engine: { engine: quickjs() }.');
  return make({ ...parts, options });
}
