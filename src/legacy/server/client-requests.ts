import {
  isObject,
  type JsonObject,
  type Message,
  printNotification,
  printRequest,
} from '../../jsonrpc/message.js';
import { shorten } from '../../protocol/encoding/shorten.js';
import { McpError } from '../../protocol/errors.js';
import { has } from '../../protocol/tables/features.js';
import { QUESTION_KEY } from '../../protocol/tables/meta-keys.js';
import type { Revision } from '../../protocol/tables/revisions.js';

/** Sends a message to the client, beside the call that it belongs to. */
export interface ClientChannel {
  readonly send: (text: string) => void;
  /** Aborts when the call is over or the client is gone: the client will not answer then. */
  readonly signal: AbortSignal;
}

/** The client was asked and could not answer. */
export class UnansweredRequest extends Error {}

interface Waiting {
  readonly resolve: (result: JsonObject) => void;
  readonly reject: (error: Error) => void;
}

const MAX_OPEN = 100;
const MAX_WITHDRAWN = 100;

export interface ClientAnswers {
  /** By key. */
  readonly answers: JsonObject;
  /** The ids of the pages that the user went to. */
  readonly elicitationIds: readonly string[];
}

/** The requests that a session-era server sends to its client. */
export class ClientRequests {
  readonly #waiting = new Map<string, Waiting>();
  // The client may have answered before it heard that its answer is not wanted any more.
  #withdrawn: Set<string> | undefined;

  /** Asks everything at once. If one answer fails, the others are not awaited. */
  async ask(requests: unknown, revision: Revision, { send, signal }: ClientChannel): Promise<ClientAnswers> {
    const ids: string[] = [];
    const elicitationIds: string[] = [];
    const withdraw = (): void => {
      for (const id of ids) this.#withdraw(id, send);
    };
    const ask = async ([key, request]: [string, unknown]): Promise<[string, JsonObject]> => {
      const { method, params } = request as { method: string; params?: JsonObject };
      const sent = withKey(key, older(revision, params));
      const id = this.#nextId();
      ids.push(id);
      const answer = await this.#request(id, () => send(printRequest(id, method, sent)));
      if (sent?.['elicitationId'] !== undefined && answer['action'] === 'accept')
        elicitationIds.push(sent['elicitationId'] as string);
      return [key, answer];
    };
    if (signal.aborted) throw callEnded();
    signal.addEventListener('abort', withdraw, { once: true });
    try {
      const entries = Object.entries(isObject(requests) ? requests : {});
      return { answers: Object.fromEntries(await Promise.all(entries.map(ask))), elicitationIds };
    } finally {
      signal.removeEventListener('abort', withdraw);
      withdraw();
    }
  }

  #nextId(): string {
    if (this.#waiting.size >= MAX_OPEN)
      throw new McpError('overloaded', 'Too many questions are open in this session');
    // A session outlives this object and this process, and an answer to an old question must not count for a new one.
    return `ask-${crypto.randomUUID()}`;
  }

  #request(id: string, send: () => void): Promise<JsonObject> {
    return new Promise<JsonObject>((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      send();
    }).finally(() => this.#waiting.delete(id));
  }

  // The client should stop asking its user.
  #withdraw(id: string, send: ClientChannel['send']): void {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return;
    waiting.reject(callEnded());
    this.#waiting.delete(id);
    this.#withdrawn ??= new Set();
    this.#withdrawn.add(id);
    if (this.#withdrawn.size > MAX_WITHDRAWN) {
      const [oldest] = this.#withdrawn;
      this.#withdrawn.delete(oldest as string);
    }
    send(printNotification('notifications/cancelled', { requestId: id }));
  }

  /** Receives a response of the client. False if it answers no request of this session. */
  receive(message: Message): boolean {
    if (message.kind !== 'result' && message.kind !== 'error') return true;
    const id = String(message.id);
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return this.#withdrawn?.has(id) === true;
    if (message.kind === 'result') waiting.resolve(message.result);
    else
      waiting.reject(
        new UnansweredRequest(`The client could not answer: ${shorten(message.error.message, 200)}`),
      );
    return true;
  }

  /** Rejects all requests: the client is gone. */
  close(): void {
    for (const { reject } of this.#waiting.values())
      reject(new McpError('connection_closed', 'The client went away'));
  }
}

function callEnded(): McpError {
  return new McpError('cancelled', 'The call ended before the client answered');
}

// Our own client reads the key of the question here; other clients ignore it.
function withKey(key: string, params: JsonObject | undefined): JsonObject {
  const meta = params?.['_meta'];
  return { ...params, _meta: { ...(isObject(meta) && meta), [QUESTION_KEY]: key } };
}

// Before 2025-11-25 a form has no mode and no titled choices; where there are pages to visit, each visit has an id.
function older(revision: Revision, params: JsonObject | undefined): JsonObject | undefined {
  if (params?.['mode'] === 'url') return { ...params, elicitationId: crypto.randomUUID() };
  if (params?.['mode'] !== 'form' || has(revision, 'urlElicitation')) return params;
  const { mode, requestedSchema, ...rest } = params;
  const { properties, ...schema } = requestedSchema as { properties: Record<string, JsonObject> };
  const fields = Object.entries(properties).map(([name, field]) => [name, untitled(field)]);
  return { ...rest, requestedSchema: { ...schema, properties: Object.fromEntries(fields) } };
}

function untitled(field: JsonObject): JsonObject {
  const { oneOf, ...rest } = field;
  if (!Array.isArray(oneOf)) return field;
  const options = oneOf as { const: string; title: string }[];
  return {
    ...rest,
    enum: options.map((option) => option.const),
    enumNames: options.map(({ title }) => title),
  };
}
