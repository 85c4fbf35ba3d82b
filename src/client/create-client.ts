import { isObject, type JsonObject } from '../jsonrpc/message.js';
import type { Outcome } from '../protocol/call.js';
import { McpError } from '../protocol/errors.js';
import type { Link, LinkEvents, OpenLink } from '../protocol/link.js';
import { SERVER_INFO } from '../protocol/meta.js';
import type { Implementation, ServerCapabilities } from '../protocol/model/model.js';
import { TASKS } from '../protocol/tasks.js';
import type { answerWith } from './answering/answer-with.js';
import { capabilitiesOf, keyOf } from './answering/answering.js';
import { staleBy, uniqueKey } from './calls/caching.js';
import { CallSender, type SendOptions, toLogMessage } from './calls/call-sender.js';
import { listing } from './calls/listing.js';
import { requireComplete, toCompletion, toPromptResult, toReadResult } from './calls/read-results.js';
import { KnownTools } from './checks/known-tools.js';
import { Connection } from './connection/connection.js';
import { EventHub } from './connection/event-hub.js';
import type { Client, Listing, ServerFacts } from './model/client.js';
import type { AnswerQuestion } from './model/handlers.js';
import { type CallOptions, type ClientOptions, fullmcp } from './model/options.js';
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
  const hub = new EventHub();
  const knownTools = new KnownTools(hub.problem);
  const results = cache === true ? new ResultCache() : cache || undefined;
  const { maxRounds = 10 } = options;
  const peer = {
    client: identity,
    capabilities: { ...capabilitiesOf(options), extensions: { [TASKS]: {} } },
  };
  if (options.onLog) hub.on('log', options.onLog);

  function notification(method: string, params: JsonObject | undefined): void {
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
    return answerQuestion(request, { ...context, server });
  }
  const answer: AnswerQuestion = (request, context) => answerAs(serverName(), request, context);

  const events: Omit<LinkEvents, 'lost'> = {
    notification,
    problem: hub.problem,
    ask: (request, questionSignal, server = serverName()) =>
      sender.whileAsking(() => answerAs(server, request, { key: keyOf(request), signal: questionSignal })),
    whileAsking: (work) => sender.whileAsking(work),
  };
  const connection = new Connection({
    open,
    client: peer,
    reconnect: reconnect === true ? {} : reconnect || undefined,
    connectTimeoutMs,
    events,
    onStatus(status, reason) {
      if (status === 'closed') end(reason ?? new McpError('connection_closed', 'The client was closed'));
      hub.emit('status', { status, ...(reason && { reason }) });
    },
  });
  const sender = new CallSender({
    options,
    dispatch: (call) => connection.dispatch(call),
    peer,
    hub,
    knownTools,
    caching: results && { cache: results, serverKey: cacheKey, clientKey: uniqueKey() },
    answer,
  });
  // Loaded with the first subscription: many clients have none.
  let listening: Promise<Listening> | undefined;
  let isClosed = false;
  async function startListening(): Promise<Listening> {
    const { Listening, listenRequest } = await import('./subscriptions/listen-request.js');
    const stream = new Listening({
      listen: listenRequest({
        sender,
        link: () => connection.link,
        timeoutMs: options.timeoutMs ?? 60_000,
      }),
      notification(method, params) {
        if (!connection.link.reportsChanges) notification(method, params);
      },
      problem: hub.problem,
    });
    if (isClosed) stream.close();
    return stream;
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
    async function fetchPage(params: JsonObject): Promise<Outcome> {
      try {
        return await sender.sendFresh(method, params, callOptions);
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
  });

  async function ask(method: string, params: JsonObject, callOptions?: SendOptions): Promise<Outcome> {
    return requireComplete(await sender.sendFresh(method, params, callOptions));
  }

  // Some servers ask before the handshake is complete, when there is no link yet.
  function serverName(): string {
    const info = (connection.link as Link | undefined) && facts().info;
    return info?.title ?? info?.name ?? target;
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

  return {
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
    readResource: async (uri, callOptions) => toReadResult(await ask('resources/read', { uri }, callOptions)),
    getPrompt: async (name, args, callOptions) =>
      toPromptResult(await ask('prompts/get', { name, ...(args && { arguments: args }) }, callOptions)),
    async complete({ prompt, template, argument, value, filled }, callOptions) {
      const ref =
        prompt === undefined ? { type: 'ref/resource', uri: template } : { type: 'ref/prompt', name: prompt };
      const context = filled && { context: { arguments: filled } };
      return toCompletion(
        await ask(
          'completion/complete',
          { ref, argument: { name: argument, value }, ...context },
          callOptions,
        ),
      );
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
      pending: sender.pending().length,
      reconnects: connection.reconnects,
      problems: [...hub.problems],
    }),
    on: (event, listener) => hub.on(event, listener),
    close,
    [Symbol.asyncDispose]: close,
  };
}
