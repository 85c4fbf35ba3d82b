import {
  isObject,
  type JsonObject,
  type Message,
  printNotification,
  printRequest,
} from '../../jsonrpc/message.js';
import { shorten } from '../../protocol/encoding/shorten.js';
import { McpError } from '../../protocol/errors.js';
import { rejectionIn } from '../../protocol/model/input.js';
import { has } from '../../protocol/tables/features.js';
import { QUESTION_KEY } from '../../protocol/tables/meta-keys.js';
import type { Revision } from '../../protocol/tables/revisions.js';

// The questions of a session-era server: requests to the client, sent while a call is open.

/** A channel to the client, for messages that belong to an open call. */
export interface ClientChannel {
  readonly send: (text: string) => void;
  /** Aborts when the call has ended or the client is gone, so that an answer is no longer expected. */
  readonly signal: AbortSignal;
}

/** The client responded to a question with an error. */
export class UnansweredRequest extends Error {}

interface PendingAnswer {
  readonly method: string;
  readonly resolve: (result: JsonObject) => void;
  readonly reject: (error: Error) => void;
}

/** The number of questions that a session can have open. */
export const MAX_OPEN = 100;
const MAX_WITHDRAWN = 100;

export interface ClientAnswers {
  /** The answers, by the keys of the questions. */
  readonly answers: JsonObject;
  /** The ids of the URL elicitations that the user accepted. */
  readonly elicitationIds: readonly string[];
}

/** The requests that a session-era server sends to its client. */
export class ClientRequests {
  readonly #pending = new Map<string, PendingAnswer>();
  // Questions that were withdrawn. The client may have answered before it received the withdrawal.
  #withdrawn: Set<string> | undefined;

  /** Sends all questions at once. If one of them fails, the others are withdrawn. */
  async ask(requests: unknown, revision: Revision, { send, signal }: ClientChannel): Promise<ClientAnswers> {
    const ids: string[] = [];
    const elicitationIds: string[] = [];
    const withdraw = (): void => {
      for (const id of ids) this.#withdraw(id, send);
    };
    const ask = async ([key, request]: [string, unknown]): Promise<[string, JsonObject]> => {
      const { method, params, elicitationId } = toQuestion(key, request, revision);
      const id = this.#nextId();
      ids.push(id);
      const answer = await this.#request(id, method, () => send(printRequest(id, method, params)));
      if (elicitationId !== undefined && answer['action'] === 'accept') elicitationIds.push(elicitationId);
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
    if (this.#pending.size >= MAX_OPEN)
      throw new McpError('overloaded', `A session can have at most ${MAX_OPEN} open questions.`);
    // Random, because a session may outlive this process: an answer to an old question must not count for a new one.
    return `ask-${crypto.randomUUID()}`;
  }

  #request(id: string, method: string, send: () => void): Promise<JsonObject> {
    return new Promise<JsonObject>((resolve, reject) => {
      this.#pending.set(id, { method, resolve, reject });
      send();
    }).finally(() => this.#pending.delete(id));
  }

  // Tells the client to stop asking its user.
  #withdraw(id: string, send: ClientChannel['send']): void {
    const pending = this.#pending.get(id);
    if (pending === undefined) return;
    pending.reject(callEnded());
    this.#pending.delete(id);
    this.#withdrawn ??= new Set();
    this.#withdrawn.add(id);
    if (this.#withdrawn.size > MAX_WITHDRAWN) {
      const [oldest] = this.#withdrawn;
      this.#withdrawn.delete(oldest as string);
    }
    send(printNotification('notifications/cancelled', { requestId: id }));
  }

  /** Receives a response of the client. False if this session has no such request. */
  receive(message: Message): boolean {
    if (message.kind !== 'result' && message.kind !== 'error') return true;
    const id = String(message.id);
    const pending = this.#pending.get(id);
    if (pending === undefined) return this.#withdrawn?.has(id) === true;
    const answer = message.kind === 'result' ? message.result : rejectionIn(pending.method, message.error);
    if (answer !== undefined) pending.resolve(answer);
    else if (message.kind === 'error')
      pending.reject(new UnansweredRequest(unansweredBecause(message.error.message)));
    return true;
  }

  /** Rejects all requests: the client is gone. */
  close(): void {
    for (const { reject } of this.#pending.values())
      reject(new McpError('connection_closed', 'The client went away'));
  }
}

/** The text of an `UnansweredRequest`, from the error with which the client responded. */
export function unansweredBecause(message: string): string {
  return `The client could not answer: ${shorten(message, 200)}`;
}

/** A question as a request of the session's revision. */
export interface ClientQuestion {
  readonly method: string;
  readonly params: JsonObject;
  /** The id of a URL elicitation, in revisions that have one. */
  readonly elicitationId: string | undefined;
}

/** Writes a question of a call as a request of the session's revision. */
export function toQuestion(key: string, request: unknown, revision: Revision): ClientQuestion {
  const { method, params } = request as { method: string; params?: JsonObject };
  const older = withKey(key, toOlderParams(revision, params));
  return { method, params: older, elicitationId: older['elicitationId'] as string | undefined };
}

/** The error of a call that ended while its client was being asked. */
export function callEnded(): McpError {
  return new McpError('cancelled', 'The call ended before the client answered.');
}

// The fullmcp client reads the key of the question here; other clients ignore it.
function withKey(key: string, params: JsonObject | undefined): JsonObject {
  const meta = params?.['_meta'];
  return { ...params, _meta: { ...(isObject(meta) && meta), [QUESTION_KEY]: key } };
}

// Before 2025-11-25 a form has no mode, and its choices have no titles. In 2025-11-25 each URL elicitation has an id.
function toOlderParams(revision: Revision, params: JsonObject | undefined): JsonObject | undefined {
  if (params?.['mode'] === 'url') return { ...params, elicitationId: crypto.randomUUID() };
  if (params?.['mode'] !== 'form' || has(revision, 'urlElicitation')) return params;
  const { mode, requestedSchema, ...rest } = params;
  const { properties, ...schema } = requestedSchema as { properties: Record<string, JsonObject> };
  const fields = Object.entries(properties).map(([name, field]) => [name, toEnum(field)]);
  return { ...rest, requestedSchema: { ...schema, properties: Object.fromEntries(fields) } };
}

function toEnum(field: JsonObject): JsonObject {
  const { oneOf, ...rest } = field;
  if (!Array.isArray(oneOf)) return field;
  const options = oneOf as { const: string; title: string }[];
  return {
    ...rest,
    enum: options.map((option) => option.const),
    enumNames: options.map(({ title }) => title),
  };
}
