// One connection on which messages travel: pairs requests with responses, and finds the story of each message.

import type { AsyncLocalStorage } from 'node:async_hooks';
import { Buffer } from 'node:buffer';
import { isObject, isRequestId, type RequestId } from '../../jsonrpc/message.js';
import { progressToken, SUBSCRIPTION_ID } from '../../protocol/meta.js';
import { nameParam } from '../../protocol/tables/methods.js';
import { readWireText } from './read-message.js';
import {
  type HttpExchange,
  MAX_TEXT,
  type ReadMessage,
  type Scope,
  type SeenMessage,
  type WireListener,
} from './seen.js';
import type { ConnectSteps, EndStep } from './steps.js';

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

interface Pending {
  readonly seq: number;
  readonly method: string;
  readonly name?: string;
  readonly at: number;
  readonly scope: Scope;
  readonly end?: EndStep;
}

/** A server may leave requests unanswered; a client that is asked may, too. */
const MAX_PENDING = 10_000;

const HANDSHAKE: ReadonlySet<string> = new Set(['server/discover', 'initialize']);

/** How a message arrived. */
export interface Arrival {
  readonly http?: HttpExchange;
  /** The scope of the request whose reply it came with, which it then belongs to. */
  readonly with?: Scope;
}

export interface TappedChannelParts {
  readonly listener: WireListener;
  readonly scopes: AsyncLocalStorage<Scope>;
  /** The scope of what happens outside of any action. */
  readonly background: Scope;
  /** Reports the requests of a handshake as steps. Over HTTP, each request is one anyway. */
  readonly steps?: ConnectSteps;
}

export class TappedChannel {
  readonly #parts: TappedChannelParts;
  readonly #fromClient = new Map<RequestId, Pending>();
  readonly #fromServer = new Map<RequestId, Pending>();
  readonly #tokens = new Map<RequestId, Scope>();

  constructor(parts: TappedChannelParts) {
    this.#parts = parts;
  }

  /** The scope of the work that runs now. */
  get scope(): Scope {
    return this.#parts.scopes.getStore() ?? this.#parts.background;
  }

  sent(text: string, http?: HttpExchange): void {
    for (const message of readWireText(text)) {
      const scope = this.#scopeOfSent(message);
      const seq = this.#report('client', message, { text, scope, http });
      if (message.kind === 'request' && message.id !== undefined)
        this.#remember(this.#fromClient, message, { seq, scope });
    }
  }

  /** Reports messages of the server. Returns the scope of the last one. */
  received(text: string, { http, with: own }: Arrival = {}): Scope {
    let last = this.scope;
    for (const message of readWireText(text)) {
      last = this.#scopeOfReceived(message, own);
      const seq = this.#report('server', message, { text, scope: last, http });
      if (message.kind === 'request') this.#remember(this.#fromServer, message, { seq, scope: last });
    }
    return last;
  }

  /** Reports a message of the server, and lets the client have it in the scope that it belongs to. */
  deliver(text: string, give: () => void): void {
    this.#parts.scopes.run(this.received(text), give);
  }

  replied(scope: Scope, exchange: HttpExchange): void {
    this.#parts.listener.replied(scope, exchange);
  }

  #scopeOfSent(message: ReadMessage): Scope {
    const { kind, id, method, params } = message;
    if ((kind === 'response' || kind === 'error') && id !== undefined)
      return this.#fromServer.get(id)?.scope ?? this.scope;
    if (method === 'notifications/cancelled')
      return this.#fromClient.get(params?.['requestId'] as RequestId)?.scope ?? this.scope;
    return this.scope;
  }

  #scopeOfReceived(message: ReadMessage, own: Scope | undefined): Scope {
    const { kind, method = '', params } = message;
    if (kind === 'response' || kind === 'error')
      return this.#pendingOf(message)?.scope ?? this.#unclaimed(message);
    const token = params?.['progressToken'] as RequestId | undefined;
    const byToken = method === 'notifications/progress' ? this.#tokens.get(token ?? '') : undefined;
    if (byToken !== undefined) return byToken;
    const subscription = subscriptionIn(message);
    const listening = subscription === undefined ? undefined : this.#fromClient.get(subscription);
    if (listening !== undefined && !isChange(method)) return listening.scope;
    // Servers send changes on any open stream.
    return own !== undefined && !own.isBackground && !isChange(method) ? own : this.#unclaimed(message);
  }

  #unclaimed(message: ReadMessage): Scope {
    return this.#parts.listener.ownerOf(message);
  }

  #pendingOf({ id }: ReadMessage): Pending | undefined {
    if (id === undefined) return undefined;
    // Some servers return the number as a string.
    return this.#fromClient.get(id) ?? this.#fromClient.get(Number(id));
  }

  #remember(
    pending: Map<RequestId, Pending>,
    message: ReadMessage,
    { seq, scope }: { readonly seq: number; readonly scope: Scope },
  ): void {
    const { id, method = '', params } = message;
    if (id === undefined) return;
    const name = nameOf(message);
    const end = HANDSHAKE.has(method) ? this.#parts.steps?.begin(method) : undefined;
    pending.set(id, {
      seq,
      method,
      at: performance.now(),
      scope,
      ...(name !== undefined && { name }),
      ...(end && { end }),
    });
    dropOldest(pending, MAX_PENDING);
    const token = params === undefined ? undefined : progressToken(params);
    if (token === undefined || pending !== this.#fromClient) return;
    this.#tokens.set(token, scope);
    dropOldest(this.#tokens, MAX_PENDING);
  }

  #report(
    from: 'client' | 'server',
    message: ReadMessage,
    {
      text,
      scope,
      http,
    }: { readonly text: string; readonly scope: Scope; readonly http: HttpExchange | undefined },
  ): number {
    const { listener } = this.#parts;
    const { kind, id, method, params, result, error } = message;
    const isAnswer = kind === 'response' || kind === 'error';
    const isCut = text.length > MAX_TEXT;
    // Field by field: a server may send a hundred thousand messages, and spreads take longer than all the rest.
    const seen: Mutable<SeenMessage> = {
      kind,
      from,
      text: listener.mask(isCut ? text.slice(0, MAX_TEXT) : text),
      isCut,
      bytes: Buffer.byteLength(text),
      at: Date.now(),
      scope,
    };
    if (id !== undefined) seen.id = id;
    if (method !== undefined) seen.method = method;
    if (params !== undefined) seen.params = params;
    if (result !== undefined) seen.result = result;
    if (error !== undefined) seen.error = error;
    if (http !== undefined) seen.http = http;
    const asked = isAnswer ? this.#settle(from, message) : undefined;
    if (asked !== undefined) {
      asked.end?.(kind === 'error' ? 'failed' : 'ok', error?.message);
      const { seq, method: called, name, at } = asked;
      seen.answers = { seq, method: called, ms: performance.now() - at, ...(name !== undefined && { name }) };
    }
    return listener.message(seen);
  }

  #settle(from: 'client' | 'server', message: ReadMessage): Pending | undefined {
    const { id } = message;
    if (id === undefined) return undefined;
    if (from === 'client') {
      const asked = this.#fromServer.get(id);
      this.#fromServer.delete(id);
      return asked;
    }
    const asked = this.#pendingOf(message);
    this.#fromClient.delete(id);
    this.#fromClient.delete(Number(id));
    return asked;
  }
}

/** The tool, the prompt, the URI or the task that a request is about. */
export function nameOf({ method = '', params }: ReadMessage): string | undefined {
  const name = params?.[nameParam(method) ?? ''];
  return typeof name === 'string' ? name.slice(0, 500) : undefined;
}

/** The request that opened the stream which a message came on, where streams share a connection. */
function subscriptionIn({ params }: ReadMessage): RequestId | undefined {
  const meta = params?.['_meta'];
  const id = isObject(meta) ? meta[SUBSCRIPTION_ID] : undefined;
  return isRequestId(id) ? id : undefined;
}

function isChange(method: string): boolean {
  return method.endsWith('/list_changed') || method === 'notifications/resources/updated';
}

function dropOldest(map: Map<unknown, unknown>, limit: number): void {
  if (map.size <= limit) return;
  for (const oldest of map.keys()) {
    map.delete(oldest);
    if (map.size <= limit * 0.9) return;
  }
}
