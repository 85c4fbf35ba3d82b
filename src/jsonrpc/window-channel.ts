// JSON-RPC between two windows, with postMessage. Loaded into pages, so it is small and imports next to nothing.

import { isObject } from './message.js';
import { isUnfit, MAX_MESSAGE_SIZE } from './message-size.js';

/** The parts of a window that a channel uses. */
interface PeerWindow {
  readonly postMessage: (message: unknown, targetOrigin: string) => void;
}

export interface WindowChannelOptions {
  /** The other window. Messages of all other windows are ignored. */
  readonly peer: PeerWindow;
  /** The origin that messages must have. Default: that of the first response. */
  readonly origin?: string;
  /** The time after which a request fails. */
  readonly timeoutMs: number;
  /** The notification that says that a request was given up, with its id as `requestId`. */
  readonly cancelMethod: string;
  readonly onNotification: (method: string, params: Record<string, unknown>) => void;
  /** Answers a request. Undefined means that the method is not known; an error is sent to the peer with its message. */
  readonly onRequest: (
    method: string,
    params: Record<string, unknown>,
    signal: AbortSignal,
  ) => Promise<object | undefined>;
}

export interface WindowChannel {
  readonly request: (
    method: string,
    params: object,
    options?: { readonly timeoutMs?: number | undefined; readonly signal?: AbortSignal | undefined },
  ) => Promise<object>;
  readonly notify: (method: string, params?: object) => void;
  /** Stops listening. Open requests fail with the reason, and those of the peer are aborted. */
  readonly close: (reason: string) => void;
}

/** The other window has refused a request. */
export class RefusedError extends Error {
  /** The JSON-RPC code of the refusal. */
  readonly code: number;
  /** The data of the refusal. */
  readonly data: unknown;

  constructor(message: string, code: number, data?: unknown) {
    super(message);
    this.name = 'RefusedError';
    this.code = code;
    this.data = data;
  }
}

/** The most requests that are open at a time, in each direction. */
const MAX_OPEN = 64;

/** Opens a channel to another window. */
export function windowChannel(options: WindowChannelOptions): WindowChannel {
  const { peer, cancelMethod } = options;
  const asked = new Map<unknown, { settle: (error: Error | undefined, result?: object) => void }>();
  const answering = new Map<unknown, AbortController>();
  let { origin } = options;
  let nextId = 1;
  let closed: string | undefined;

  function post(message: object): void {
    // A page without an origin cannot be addressed by it.
    peer.postMessage(
      { jsonrpc: '2.0', ...message },
      origin === undefined || origin === 'null' ? '*' : origin,
    );
  }

  function receive({ source, origin: from, data }: MessageEvent<unknown>): void {
    if (source !== (peer as unknown) || (origin !== undefined && from !== origin)) return;
    if (!isObject(data) || data['jsonrpc'] !== '2.0') return;
    const { id, method, params } = data;
    if (isUnfit(data)) refuseUnfit(id, method);
    else if (method === undefined) respond(data, from);
    else if (typeof method !== 'string') return;
    else if (id !== undefined) void answer(id, method, isObject(params) ? params : {});
    else if (method === cancelMethod)
      answering.get((params as { requestId?: unknown } | undefined)?.requestId)?.abort();
    else options.onNotification(method, isObject(params) ? params : {});
  }

  function refuseUnfit(id: unknown, method: unknown): void {
    const why = `The message is larger than ${MAX_MESSAGE_SIZE} characters, or is not JSON.`;
    if (method === undefined) asked.get(id)?.settle(new RefusedError(why, -32600));
    else if (isId(id)) post({ id, error: { code: -32600, message: why } });
  }

  function respond({ id, result, error }: Record<string, unknown>, from: string): void {
    const request = asked.get(id);
    if (request === undefined) return;
    origin ??= from;
    if (isObject(result)) return request.settle(undefined, result);
    const { code, message, data } = isObject(error) ? error : {};
    request.settle(
      new RefusedError(
        typeof message === 'string' ? message : 'The response has neither a result nor an error.',
        typeof code === 'number' ? code : -32603,
        data,
      ),
    );
  }

  async function answer(id: unknown, method: string, params: Record<string, unknown>): Promise<void> {
    const refuse = (code: number, message: string): void => post({ id, error: { code, message } });
    if (!isId(id) || answering.has(id)) return;
    if (answering.size >= MAX_OPEN) return refuse(-32000, `${MAX_OPEN} requests are open already.`);
    const abort = new AbortController();
    answering.set(id, abort);
    try {
      const result = await options.onRequest(method, params, abort.signal);
      if (closed !== undefined || abort.signal.aborted) return;
      if (result === undefined) refuse(-32601, `Method not found: ${method.slice(0, 100)}`);
      else post({ id, result });
    } catch (error) {
      if (closed !== undefined || abort.signal.aborted) return;
      refuse(error instanceof RefusedError ? error.code : -32000, (error as Error).message);
    } finally {
      answering.delete(id);
    }
  }

  function request(
    method: string,
    params: object,
    { timeoutMs = options.timeoutMs, signal }: Parameters<WindowChannel['request']>[2] = {},
  ): Promise<object> {
    return new Promise((resolve, reject) => {
      if (closed !== undefined) return reject(new Error(closed));
      if (signal?.aborted) return reject(signal.reason);
      if (asked.size >= MAX_OPEN)
        return reject(new Error(`${MAX_OPEN} requests wait for a response already.`));
      const id = nextId++;
      const giveUp = (reason: unknown): void => {
        settle(reason as Error);
        post({ method: cancelMethod, params: { requestId: id, reason: String(reason).slice(0, 200) } });
      };
      const onAbort = (): void => giveUp(signal?.reason);
      const onTimeout = (): void =>
        giveUp(
          new Error(`${method} was not answered within ${timeoutMs} ms. Is the other window listening?`),
        );
      const timer = setTimeout(onTimeout, timeoutMs);
      const settle = (error: Error | undefined, result?: object): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
        asked.delete(id);
        if (result === undefined) reject(error);
        else resolve(result);
      };
      signal?.addEventListener('abort', onAbort);
      asked.set(id, { settle });
      try {
        post({ id, method, params });
      } catch (error) {
        // A function or a window cannot be sent.
        settle(error as Error);
      }
    });
  }

  addEventListener('message', receive);
  return {
    request,
    notify(method, params = {}) {
      if (closed === undefined) post({ method, params });
    },
    close(reason) {
      if (closed !== undefined) return;
      closed = reason;
      removeEventListener('message', receive);
      for (const { settle } of [...asked.values()]) settle(new Error(reason));
      for (const abort of answering.values()) abort.abort();
    },
  };
}

function isId(id: unknown): boolean {
  return typeof id === 'number' || (typeof id === 'string' && id.length <= 200);
}
