// A server that answers its operator, too: emits an event, lists the deliveries of its webhooks, and sends events again.

import type { Emitted, WebhookDeliveries, WebhookDesk } from '../../index.js';
import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import type { Call, Dispatch, Outcome } from '../../protocol/call.js';
import { McpError } from '../../protocol/errors.js';
import { operatorMethods } from './operator-methods.js';

/** The parts of a server that its operator uses. */
interface Operable {
  readonly emit: (name: string, data: object, options?: { readonly eventId?: string }) => Promise<Emitted>;
  readonly webhooks: WebhookDesk;
}

/** The subscriptions of one page. Each may have a hundred events that were given up. */
const PAGE = 50;
/** The lists that are being read. Of more, the one that was begun first is given up. */
const MAX_LISTS = 8;

/** The server, which answers the methods of its operator as well. A server without events is returned as it is. */
export function operatedServer<S extends { readonly dispatch: Dispatch }>(server: S): S {
  if (!isOperable(server)) return server;
  const methods = methodsOf(server);
  const dispatch: Dispatch = (call) => {
    const answer = methods.get(call.method);
    return answer === undefined ? server.dispatch(call) : answered(() => answer(call));
  };
  return Object.create(server, { dispatch: { value: dispatch, enumerable: true } }) as S;
}

function isOperable(server: object): server is Operable {
  return 'emit' in server && typeof server.emit === 'function' && 'webhooks' in server;
}

type Answer = (call: Call) => Promise<JsonObject>;

function methodsOf({ emit, webhooks }: Operable): ReadonlyMap<string, Answer> {
  const lists = new OpenLists(() => webhooks.deliveries());
  return new Map<string, Answer>([
    [
      operatorMethods.emit,
      async ({ params }) => {
        const { data } = params;
        if (!isObject(data)) throw new McpError('invalid_params', 'The data of an event must be an object.');
        const eventId = optionalText(params, 'eventId');
        return { ...(await emit(text(params, 'name'), data, eventId === undefined ? {} : { eventId })) };
      },
    ],
    [
      operatorMethods.deliveries,
      async ({ params }) => {
        const subscription = optionalText(params, 'subscription');
        if (subscription !== undefined) return { subscriptions: await one(webhooks, subscription) };
        return lists.page(optionalText(params, 'cursor'));
      },
    ],
    [
      operatorMethods.redeliver,
      async ({ params }) => ({
        count: await webhooks.redeliver(text(params, 'subscription'), optionalText(params, 'eventId')),
      }),
    ],
  ]);
}

/** The operator may read why anything failed: it is the author. `method_not_found` is left to servers that have no operator. */
async function answered(answer: () => Promise<JsonObject>): Promise<Outcome> {
  try {
    return { resultType: 'complete', ...(await answer()) };
  } catch (error) {
    if (McpError.is(error) && error.code !== 'method_not_found') throw error;
    const isMistake = error instanceof TypeError || McpError.is(error);
    const message = error instanceof Error ? error.message : String(error);
    throw new McpError(isMistake ? 'invalid_params' : 'internal_error', message, { cause: error });
  }
}

function text(params: JsonObject, name: string): string {
  const value = optionalText(params, name);
  if (value === undefined) throw new McpError('invalid_params', `"${name}" is missing.`);
  return value;
}

function optionalText(params: JsonObject, name: string): string | undefined {
  const value = params[name];
  if (value === undefined || typeof value === 'string') return value;
  throw new McpError('invalid_params', `"${name}" must be a string.`);
}

async function one(webhooks: WebhookDesk, id: string): Promise<readonly WebhookDeliveries[]> {
  for await (const found of webhooks.deliveries()) if (found.subscription === id) return [found];
  return [];
}

/** Lists that are read page by page. Each continues where its last page ended, however many subscriptions come before. */
class OpenLists {
  readonly #begin: () => AsyncIterable<WebhookDeliveries>;
  readonly #open = new Map<string, AsyncIterator<WebhookDeliveries>>();

  constructor(begin: () => AsyncIterable<WebhookDeliveries>) {
    this.#begin = begin;
  }

  async page(cursor: string | undefined): Promise<JsonObject> {
    const list = cursor === undefined ? this.#begin()[Symbol.asyncIterator]() : this.#take(cursor);
    const subscriptions: WebhookDeliveries[] = [];
    while (subscriptions.length < PAGE) {
      const { done, value } = await list.next();
      if (done === true) return { subscriptions };
      subscriptions.push(value);
    }
    return { subscriptions, cursor: this.#keep(list) };
  }

  #take(cursor: string): AsyncIterator<WebhookDeliveries> {
    const list = this.#open.get(cursor);
    this.#open.delete(cursor);
    if (list === undefined)
      throw new McpError('invalid_params', 'This list was given up. Begin again, without a cursor.');
    return list;
  }

  #keep(list: AsyncIterator<WebhookDeliveries>): string {
    const cursor = crypto.randomUUID();
    this.#open.set(cursor, list);
    if (this.#open.size > MAX_LISTS) this.#open.delete(this.#open.keys().next().value as string);
    return cursor;
  }
}
