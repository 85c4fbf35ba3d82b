import { onAbort } from '../../async/abort.js';
import { withSignal } from '../../async/lifetime.js';
import { ByNumber } from '../../jsonrpc/by-number.js';
import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import {
  type Auth,
  type Call,
  compose,
  type Dispatch,
  type Outcome,
  type Peer,
} from '../../protocol/call.js';
import { toAuth } from '../../protocol/caller.js';
import type { KeysOf } from '../../protocol/checks/known-keys.js';
import { cancelledBy, type McpError } from '../../protocol/errors.js';
import { isLogLevel, type LogLevel } from '../../protocol/tables/log-level.js';
import { nameParam } from '../../protocol/tables/methods.js';
import { newestRevision } from '../../protocol/tables/revisions.js';
import { answering } from '../answering/answering.js';
import type { KnownTools } from '../checks/known-tools.js';
import { callKeys, hasUnknown, isLimit } from '../checks/option-keys.js';
import type { EventHub } from '../connection/event-hub.js';
import type { PendingCall, ToolCallOptions } from '../model/client.js';
import type { Answer } from '../model/handlers.js';
import type { CallOptions, ClientOptions, LogMessage, Progress } from '../model/options.js';
import { type CachingParts, caching } from './caching.js';
import { toCallError } from './call-error.js';
import { Clock } from './clock.js';
import { OpenCall } from './open-call.js';
import { toProgress } from './progress.js';
import { retrying } from './retrying.js';

export interface CallerParts {
  readonly options: ClientOptions;
  readonly dispatch: Dispatch;
  readonly peer: Pick<Peer, 'client' | 'capabilities'>;
  readonly hub: EventHub;
  readonly known: KnownTools;
  readonly caching: CachingParts | undefined;
  readonly answer: Answer;
}

export interface SendOptions extends CallOptions {
  /** Goes as it is: nothing is answered, kept or repeated. */
  readonly bare?: boolean;
  /** It may take for ever. */
  readonly endless?: boolean;
  /** Hears what is neither progress nor a log message. */
  readonly notified?: Call['notify'];
}

const noOptions: SendOptions = {};
const sendKeys: KeysOf<SendOptions & ToolCallOptions> = {
  ...callKeys,
  bare: true,
  endless: true,
  notified: true,
};

/** Makes calls: gives each its time and its place among the open ones, and lets it through the middleware. */
export class Caller {
  readonly #parts: CallerParts;
  readonly #auth: Auth | undefined;
  readonly #open = new ByNumber<OpenCall>();
  readonly #all: Dispatch;
  readonly #bare: Dispatch;
  readonly #renewing: Dispatch;
  readonly #timeoutMs: number;
  readonly #maxTimeoutMs: number;
  readonly #closing = new AbortController();
  readonly #clock = new Clock(() => this.#open.all());
  #asking = 0;
  #peer: Peer;

  constructor(parts: CallerParts) {
    this.#parts = parts;
    const { options, dispatch, answer, known } = parts;
    this.#auth = toAuth(options.as);
    const { timeoutMs = 60_000, maxTimeoutMs = 600_000 } = options;
    this.#timeoutMs = timeoutMs;
    this.#maxTimeoutMs = maxTimeoutMs;
    const { use = [], maxRounds = 10, maxRetries = 2, logLevel = options.log && 'info' } = options;
    this.#peer = { revision: newestRevision, ...parts.peer, logLevel };
    const isRepeatable = (name: unknown): boolean => known.isRepeatable(name);
    const keepsKeys = (name: unknown): boolean => known.keepsKeys(name);
    const asking = answering({
      answer: (request, asked) => this.whileAsking(() => answer(request, asked)),
      maxRounds,
    });
    const through = (renew: boolean): Dispatch =>
      compose(
        [
          ...use,
          asking,
          ...(parts.caching ? [caching(parts.caching, { renew })] : []),
          retrying({ maxRetries, isRepeatable, keepsKeys, problem: parts.hub.problem }),
        ],
        dispatch,
      );
    this.#bare = compose(use, dispatch);
    this.#all = through(false);
    this.#renewing = through(true);
  }

  set logLevel(logLevel: LogLevel | undefined) {
    this.#peer = { ...this.#peer, logLevel };
  }

  pending(): readonly PendingCall[] {
    return this.#open.all().map((open) => open.state);
  }

  /** The time that a user takes to answer counts against no call: the server waits, and so does the user. */
  async whileAsking<T>(ask: () => Promise<T>): Promise<T> {
    if (this.#asking++ === 0) for (const open of this.#open.all()) open.pause();
    try {
      return await ask();
    } finally {
      if (--this.#asking === 0) for (const open of this.#open.all()) open.resume();
    }
  }

  /** Sends what the program gave, which stays as it is. */
  send(method: string, given: JsonObject, options: SendOptions = noOptions): Promise<Outcome> {
    const { _meta, ...params } = given;
    return this.sendOwn(
      method,
      params,
      isObject(_meta) ? { ...options, meta: { ..._meta, ...options.meta } } : options,
    );
  }

  /** Sends parameters that were made for this call and have no `_meta` yet: it is put there. A copy of them would cost as much as all the rest. */
  async sendOwn(method: string, params: JsonObject, options: SendOptions = noOptions): Promise<Outcome> {
    const { timeoutMs = this.#timeoutMs, maxTimeoutMs = this.#maxTimeoutMs } = options;
    if (hasUnknown(options, sendKeys) || !isLimit(timeoutMs) || !isLimit(maxTimeoutMs))
      throw (await import('../checks/option-mistakes.js')).callMistake(method, options);
    const { signal, fresh = false, bare = false, endless = false } = options;
    if (signal?.aborted) throw cancelledBy(signal.reason);
    const id = this.#open.next();
    const name = nameOf(method, params);
    const limits = endless ? undefined : { timeoutMs, maxTimeoutMs };
    const open = new OpenCall(id, { method, name, limits, clock: this.#clock, hub: this.#parts.hub });
    this.#open.add(open);
    const forget = signal && onAbort(signal, () => open.end(cancelledBy(signal.reason)));
    try {
      const call = this.#callOf(id, open, { method, name, params, options });
      const outcome = await open.run(() => (bare ? this.#bare : fresh ? this.#renewing : this.#all)(call));
      if (method === 'tools/list') this.#parts.known.learn(outcome['tools']);
      return outcome;
    } catch (error) {
      throw toCallError(method, error);
    } finally {
      open.done();
      forget?.();
      this.#open.delete(open);
    }
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

  /** Tells the program how far a call is. */
  progressed(progress: Progress, { method, name, onProgress }: Progressing): void {
    const { hub, options } = this.#parts;
    const { progress: all } = options;
    if (onProgress) hub.safely('onProgress', () => onProgress(progress));
    if (all) hub.safely('progress', () => all(progress, { method, ...(name !== undefined && { name }) }));
  }

  #callOf(id: number, open: OpenCall, what: What): Call {
    const { method, name, params, options } = what;
    const { options: defaults, hub } = this.#parts;
    const {
      meta,
      onProgress,
      onLog,
      notified,
      logLevel = onLog && (this.#peer.logLevel ?? 'info'),
    } = options;
    const wantsProgress =
      method === 'tools/call' || onProgress !== undefined || defaults.progress !== undefined;
    const notify: Call['notify'] = (said, about) => {
      if (said === 'notifications/progress') {
        const progress = toProgress(about);
        if (progress === undefined) return;
        open.alive(progress.progress);
        this.progressed(progress, { method, name, onProgress });
      } else if (said === 'notifications/message') {
        const message = toLogMessage(about);
        if (message && onLog) hub.safely('onLog', () => onLog(message));
        if (message) hub.emit('log', message);
      } else if (notified) notified(said, about);
      else hub.emit('notification', { method: said, params: about });
    };
    if (wantsProgress) params['_meta'] = { ...meta, progressToken: id };
    else if (meta) params['_meta'] = meta;
    const peer = logLevel === undefined ? this.#peer : { ...this.#peer, logLevel };
    return withSignal({ id, method, params, peer, auth: this.#auth, notify }, open.lifetime);
  }
}

interface Progressing {
  readonly method: string;
  readonly name: string | undefined;
  readonly onProgress: CallOptions['onProgress'];
}

interface What {
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

export function toLogMessage(params: JsonObject | undefined): LogMessage | undefined {
  const { level, logger, data } = params ?? {};
  return isLogLevel(level) ? { level, data, ...(typeof logger === 'string' && { logger }) } : undefined;
}
