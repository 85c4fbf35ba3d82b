import { onAbort } from '../../async/abort.js';
import { withSignal } from '../../async/lifetime.js';
import type { PausableTimeout } from '../../async/pausable-timeout.js';
import { ByNumber } from '../../jsonrpc/by-number.js';
import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import {
  type Auth,
  type Call,
  compose,
  type Dispatch,
  type Middleware,
  type Outcome,
  type Peer,
} from '../../protocol/call.js';
import { toAuth } from '../../protocol/caller.js';
import type { OptionTable } from '../../protocol/checks/options.js';
import { type CallSource, cancelledBy, McpError } from '../../protocol/errors.js';
import type { LogLevel } from '../../protocol/tables/log-level.js';
import { nameParam } from '../../protocol/tables/methods.js';
import { newestRevision } from '../../protocol/tables/revisions.js';
import { callEvents } from '../../protocol/telemetry/tracing.js';
import { answering } from '../answering/answering.js';
import type { KnownTools } from '../checks/known-tools.js';
import { callTable, hasUnknown, isLimit } from '../checks/option-tables.js';
import type { Activity } from '../connection/activity.js';
import type { EventHub } from '../connection/event-hub.js';
import type { PendingCall, ToolCallOptions } from '../model/client.js';
import type { AnswerQuestion } from '../model/handlers.js';
import {
  type CallOptions,
  type ClientOptions,
  type Progress,
  toLogMessage,
  toProgress,
} from '../model/options.js';
import { type CachingParts, caching } from './caching.js';
import { toCallError } from './call-error.js';
import { Clock, OpenCall } from './open-call.js';
import { retrying } from './retrying.js';

// Sends the calls of a client through its middleware.

export interface CallSenderParts {
  readonly options: ClientOptions;
  readonly dispatch: Dispatch;
  /** The program's middleware, the first outermost. */
  readonly use: readonly Middleware[];
  /** The server's address for people. */
  readonly target: string;
  readonly peer: Pick<Peer, 'client' | 'capabilities'>;
  readonly hub: EventHub;
  readonly knownTools: KnownTools;
  readonly caching: CachingParts | undefined;
  readonly answer: AnswerQuestion;
  readonly activity: Activity;
  /** The name of the server that an outcome or an error comes from. */
  readonly serverOf: (settled: unknown) => string;
}

/** Reads the outcome of a call. The call has ended if the reader fails, so its errors are errors of the call. */
export type ReadOutcome<T> = (outcome: Outcome, call: OpenCall) => T | Promise<T>;

export interface SendOptions extends CallOptions {
  /** Skips the client's own middleware, which answers questions, caches and retries. The program's middleware still runs. */
  readonly skipMiddleware?: boolean;
  /** Gives the call no timeout. */
  readonly noTimeout?: boolean;
  /** Called with each notification that is neither progress nor a log message. */
  readonly onNotification?: Call['notify'];
}

const noOptions: SendOptions = {};
const sendTable: OptionTable<SendOptions & ToolCallOptions> = {
  ...callTable,
  skipMiddleware: 'any',
  noTimeout: 'any',
  onNotification: 'any',
};

/** Sends calls: gives each call its timeout, adds it to the open calls and passes it through the middleware. */
export class CallSender {
  readonly #parts: CallSenderParts;
  readonly #auth: Auth | undefined;
  readonly #open = new ByNumber<OpenCall>();
  readonly #full: Dispatch;
  readonly #plain: Dispatch;
  readonly #renewing: Dispatch;
  readonly #timeoutMs: number;
  readonly #maxTimeoutMs: number;
  readonly #closing = new AbortController();
  readonly #clock = new Clock(() => this.#open.all());
  /** The limits of what takes several calls. */
  readonly #limits = new Set<PausableTimeout>();
  #openQuestions = 0;
  #peer: Peer;

  constructor(parts: CallSenderParts) {
    this.#parts = parts;
    const { options, dispatch, use, answer, knownTools, activity } = parts;
    this.#auth = toAuth(options.caller, 'caller');
    const { timeoutMs = 60_000, maxTimeoutMs = 600_000 } = options;
    this.#timeoutMs = timeoutMs;
    this.#maxTimeoutMs = maxTimeoutMs;
    const { maxRounds = 10, maxRetries = 2, logLevel = options.onLog && 'info' } = options;
    this.#peer = { revision: newestRevision, ...parts.peer, logLevel };
    const isRepeatable = (name: unknown): boolean => knownTools.isRepeatable(name);
    const keepsKeys = (name: unknown): boolean => knownTools.keepsKeys(name);
    const answerQuestions = answering({
      answer: (request, context) => this.whileAsking(() => answer(request, context)),
      maxRounds,
    });
    const withMiddleware = (renew: boolean): Dispatch =>
      compose(
        [
          ...use,
          answerQuestions,
          ...(parts.caching ? [caching(parts.caching, { renew })] : []),
          retrying({ maxRetries, isRepeatable, keepsKeys, problem: parts.hub.problem, activity }),
        ],
        dispatch,
      );
    this.#plain = compose(use, dispatch);
    this.#full = withMiddleware(false);
    this.#renewing = withMiddleware(true);
  }

  set logLevel(logLevel: LogLevel | undefined) {
    this.#peer = { ...this.#peer, logLevel };
  }

  pending(): readonly PendingCall[] {
    return this.#open.all().map((open) => open.state);
  }

  /** Runs `ask` while the timeouts of all calls are paused: time spent waiting for the user is not charged to any call. */
  async whileAsking<T>(ask: () => Promise<T>): Promise<T> {
    this.#openQuestions++;
    // Again with each question: a call may have begun since the one before.
    for (const open of this.#open.all()) open.pause();
    for (const limit of this.#limits) limit.pause();
    try {
      return await ask();
    } finally {
      if (--this.#openQuestions === 0) {
        for (const open of this.#open.all()) open.resume();
        for (const limit of this.#limits) limit.resume();
      }
    }
  }

  /** Pauses a limit whenever the calls are paused, until the returned function is called. */
  pauseWithCalls(limit: PausableTimeout): () => void {
    this.#limits.add(limit);
    if (this.#openQuestions > 0) limit.pause();
    return () => this.#limits.delete(limit);
  }

  /** Sends a call with the program's own `params`, which are copied. */
  send(method: string, input: JsonObject, options: SendOptions = noOptions): Promise<Outcome> {
    const { _meta, ...params } = input;
    return this.sendFresh(
      method,
      params,
      isObject(_meta) ? { ...options, meta: { ..._meta, ...options.meta } } : options,
    );
  }

  /**
   * Sends a call and returns what `read` makes of its outcome. `params` is not copied, and a `_meta` may be added to it: pass a
   * new object without a `_meta`. A copy would double the cost of a call.
   */
  sendFresh(method: string, params: JsonObject, options?: SendOptions): Promise<Outcome>;
  sendFresh<T>(
    method: string,
    params: JsonObject,
    options: SendOptions | undefined,
    read: ReadOutcome<T>,
  ): Promise<T>;
  async sendFresh<T>(
    method: string,
    params: JsonObject,
    options: SendOptions = noOptions,
    read?: ReadOutcome<T>,
  ): Promise<Outcome | T> {
    const { timeoutMs = this.#timeoutMs, maxTimeoutMs = this.#maxTimeoutMs } = options;
    if (hasUnknown(options, sendTable) || !isLimit(timeoutMs) || !isLimit(maxTimeoutMs))
      throw (await import('../checks/option-mistakes.js')).callMistake(method, options);
    const { signal, fresh = false, skipMiddleware = false, noTimeout = false } = options;
    if (signal?.aborted) throw cancelledBy(signal.reason);
    const id = this.#open.next();
    const name = nameOf(method, params);
    const limits = noTimeout ? undefined : { timeoutMs, maxTimeoutMs };
    const open = new OpenCall(id, { method, name, limits, clock: this.#clock, hub: this.#parts.hub });
    this.#open.add(open);
    if (this.#openQuestions > 0) open.pauseFromStart();
    const forget = signal && onAbort(signal, () => open.end(cancelledBy(signal.reason)));
    try {
      const call = this.#callOf(id, open, { method, name, params, options });
      const outcome = await open.run(() =>
        this.#traced(call, skipMiddleware ? this.#plain : fresh ? this.#renewing : this.#full),
      );
      if (skipMiddleware) this.#parts.activity.heard();
      if (method === 'tools/list') this.#parts.knownTools.learn(outcome['tools']);
      if (read === undefined) return outcome;
      const value = read(outcome, open);
      return value instanceof Promise ? await value : value;
    } catch (error) {
      throw await this.#failed(error, open);
    } finally {
      open.done();
      forget?.();
      this.#open.delete(open);
    }
  }

  /** The call that an outcome or an error comes from. */
  sourceOf({ method, name, id }: Pick<OpenCall, 'method' | 'name' | 'id'>, settled: unknown): CallSource {
    return { server: this.#parts.serverOf(settled), method, name, requestId: id };
  }

  async #failed(thrown: unknown, open: OpenCall): Promise<McpError> {
    const source = this.sourceOf(open, thrown);
    const isMissing = McpError.is(thrown) && thrown.code === 'missing_capability';
    const clear = isMissing
      ? await import('./missing-handlers.js').then((module) => module.withMissingHandlers(thrown))
      : thrown;
    const error = toCallError(clear, source);
    const { code } = error;
    // A server without a list has an empty one. That is not an error, and neither is a call that the program cancelled.
    const isExpected = code === 'cancelled' || (code === 'method_not_found' && open.method.endsWith('/list'));
    if (!isExpected) this.#parts.activity.failed(error);
    return error;
  }

  #traced(call: Call, dispatch: Dispatch): Promise<Outcome> {
    if (!callEvents?.hasSubscribers) return dispatch(call);
    const { target } = this.#parts;
    return callEvents.tracePromise(() => dispatch(call), { side: 'client', server: target, call });
  }

  /** Aborts when the client closes. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  /** Ends every open call. */
  close(reason: McpError): void {
    this.#closing.abort(reason);
    for (const open of this.#open.all()) open.end(reason);
    this.#clock.close();
  }

  /** Reports the progress of a call to the program. */
  reportProgress(progress: Progress, { method, name, onProgress }: ProgressTarget): void {
    const { hub, options } = this.#parts;
    const { progress: all } = options;
    if (onProgress) hub.safely('onProgress', () => onProgress(progress));
    if (all) hub.safely('progress', () => all(progress, { method, ...(name !== undefined && { name }) }));
  }

  #callOf(id: number, open: OpenCall, { method, name, params, options }: SentCall): Call {
    const { options: defaults, hub, activity } = this.#parts;
    const {
      meta,
      onProgress,
      onLog,
      onNotification,
      logLevel = onLog && (this.#peer.logLevel ?? 'info'),
    } = options;
    const needsProgress =
      method === 'tools/call' || onProgress !== undefined || defaults.progress !== undefined;
    const notify: Call['notify'] = (notification, payload) => {
      activity.heard();
      if (notification === 'notifications/progress') {
        const progress = toProgress(payload);
        if (progress === undefined) return;
        open.keepAlive(progress.progress);
        this.reportProgress(progress, { method, name, onProgress });
      } else if (notification === 'notifications/message') {
        const message = toLogMessage(payload);
        if (message && onLog) hub.safely('onLog', () => onLog(message));
        if (message) hub.emit('log', message);
      } else if (onNotification) onNotification(notification, payload);
      else hub.emit('notification', { method: notification, params: payload });
    };
    if (needsProgress) params['_meta'] = { ...meta, progressToken: id };
    else if (meta) params['_meta'] = meta;
    const peer = logLevel === undefined ? this.#peer : { ...this.#peer, logLevel };
    const auth = this.#auth;
    // Only a server in this process sees the call itself, and with it that its caller is local.
    return withSignal({ id, method, params, peer, auth, isLocal: true, notify }, open.lifetime);
  }
}

interface ProgressTarget {
  readonly method: string;
  readonly name: string | undefined;
  readonly onProgress: CallOptions['onProgress'];
}

interface SentCall {
  readonly method: string;
  readonly name: string | undefined;
  readonly params: JsonObject;
  readonly options: SendOptions;
}

function nameOf(method: string, params: JsonObject): string | undefined {
  const param = nameParam(method);
  const name = param === undefined ? undefined : params[param];
  return typeof name === 'string' ? name : undefined;
}
