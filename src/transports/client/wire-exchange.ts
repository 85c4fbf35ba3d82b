import { BoundedMap } from '../../async/bounded-map.js';
import { hasEnded, onEnd } from '../../async/lifetime.js';
import { ByNumber } from '../../jsonrpc/by-number.js';
import {
  INVALID_REQUEST,
  type InvalidMessage,
  isObject,
  type JsonObject,
  type Message,
  type NotificationMessage,
  printError,
  printNotification,
  type RequestId,
  readMessage,
} from '../../jsonrpc/message.js';
import { MAX_DEPTH, parseJson, RefusedJson } from '../../jsonrpc/parse.js';
import { quote } from '../../protocol/encoding/shorten.js';
import { cancelledBy, cancelReason, fromWire, McpError } from '../../protocol/errors.js';
import { progressToken, SUBSCRIPTION_ID } from '../../protocol/meta.js';
import { staysOpen } from '../../protocol/standing-calls.js';
import type { Exchange, ExchangeEvents, OutgoingRequest } from './exchange.js';
import { limitReports } from './limit-reports.js';
import { peerRequests } from './peer-requests.js';
import { printCall } from './print-call.js';
import type { Wire } from './wire.js';

/** The number of cancelled requests that are remembered, because their responses may be on the way. */
const MAX_CANCELLED_IDS = 100;

interface OpenRequest {
  readonly id: number;
  readonly request: OutgoingRequest;
  /** The progress token that the caller chose; on the wire it is the id. */
  readonly token: RequestId | undefined;
  readonly resolve: (result: JsonObject) => void;
  readonly reject: (error: McpError) => void;
  /** Removes the abort listener. */
  readonly unlisten: () => void;
}

/** Pairs requests with responses on a connection that they share. The wire starts with the first listener. */
export function wireExchange(wire: Wire): Exchange {
  const open = new ByNumber<OpenRequest>();
  const cancelledIds = new BoundedMap<number, true>(MAX_CANCELLED_IDS);
  const serverRequests = peerRequests(wire.send);
  let events: ExchangeEvents | undefined;
  let endReason: McpError | undefined;
  const problem = limitReports((message, cause) => events?.problem(message, cause));

  function request(request: OutgoingRequest): Promise<JsonObject> {
    return new Promise((resolve, reject) => {
      const { params } = request;
      if (endReason !== undefined) return reject(endReason);
      if (hasEnded(request)) return reject(cancelledBy(request.signal.reason));
      const id = open.next();
      const token = params === undefined ? undefined : progressToken(params);
      const text = printCall(id, request, token === undefined ? undefined : id);
      const unlisten = onEnd(request, () => cancel(entry));
      const entry: OpenRequest = { id, request, token, resolve, reject, unlisten };
      open.add(entry);
      wire.send(text);
    });
  }

  /** Removes a request from the open ones. */
  function settle(id: unknown): OpenRequest | undefined {
    const entry = find(id);
    if (entry === undefined) return undefined;
    open.delete(entry);
    entry.unlisten();
    return entry;
  }

  // The ids are integers. Some peers return one as a string.
  function find(id: unknown): OpenRequest | undefined {
    return open.get(typeof id === 'string' ? Number(id) : (id as number));
  }

  function cancel({ id, request, reject }: OpenRequest): void {
    settle(id);
    cancelledIds.set(id, true);
    const why = cancelledBy(request.signal.reason);
    // Spec 2025-11-25, Cancellation: `initialize` must not be cancelled.
    if (request.method !== 'initialize') {
      wire.send(printNotification('notifications/cancelled', { requestId: id, reason: cancelReason(why) }));
    }
    reject(why);
  }

  function receive(text: string): void {
    if (endReason !== undefined) return;
    const value = parseJson(text, MAX_DEPTH);
    try {
      if (value instanceof RefusedJson) refuseJson(text, value);
      // Only 2025-03-26 has batches.
      else if (Array.isArray(value)) for (const item of value) receiveValue(item);
      else receiveValue(value);
    } catch (error) {
      problem('A listener for messages of the server failed', error);
    }
  }

  function refuseJson(text: string, { fault, value }: RefusedJson): void {
    if (fault === 'syntax') problem(`The server sent a message that is not valid JSON: ${quote(text, 200)}`);
    else refuse(value, { reason: `it nests deeper than ${MAX_DEPTH} levels` });
  }

  function receiveValue(value: unknown): void {
    const message = readMessage(value);
    if (message.kind === 'invalid') refuse(value, message);
    else if (message.kind === 'result' || message.kind === 'error') receiveResponse(message);
    else if (message.kind === 'notification') receiveNotification(message);
    else if (events !== undefined) serverRequests.respond(message, events.request);
  }

  function receiveResponse(message: Extract<Message, { readonly kind: 'result' | 'error' }>): void {
    const { id } = message;
    const entry = settle(id);
    if (entry !== undefined) {
      if (message.kind === 'result') entry.resolve(message.result);
      else entry.reject(fromWire(message.error));
    } else if (message.kind === 'error' && id === undefined) {
      problem(`The server could not read a message: ${quote(message.error.message, 200)}`);
    } else if (!cancelledIds.delete(Number(id))) {
      problem(
        `The server answered a request that is not open, or answered it twice: id ${quote(String(id), 200)}`,
      );
    }
  }

  function receiveNotification({ method, params }: NotificationMessage): void {
    if (method === 'notifications/progress') return receiveProgress(params);
    if (method === 'notifications/cancelled') return receiveCancelled(params);
    const meta = params?.['_meta'];
    const subscription = isObject(meta) ? meta[SUBSCRIPTION_ID] : undefined;
    if (subscription === undefined) events?.notification(method, params);
    // A notification after the end of its subscription is dropped.
    else find(subscription)?.request.onNotification?.(method, params);
  }

  function receiveProgress(params: JsonObject | undefined): void {
    const entry = find(params?.['progressToken']);
    if (entry?.token === undefined) return;
    entry.request.onNotification?.('notifications/progress', { ...params, progressToken: entry.token });
  }

  function receiveCancelled(params: JsonObject | undefined): void {
    const id = params?.['requestId'] as RequestId;
    if (serverRequests.cancel(id)) return;
    // Spec 2026-07-28, Cancellation: a server may cancel subscriptions, and nothing else. In the session era, the id is that
    // of a request of the server, even if a request of the client has the same number.
    const method = find(id)?.request.method;
    if (method === undefined || !staysOpen(method)) return;
    const entry = settle(id) as OpenRequest;
    cancelledIds.set(entry.id, true);
    entry.reject(new McpError('connection_closed', 'The server has ended the subscription'));
  }

  /** Rejects the request that an unreadable message answers, which would otherwise wait forever. */
  function refuse(value: unknown, { id, reason }: Partial<InvalidMessage>): void {
    const hasMethod = isObject(value) && 'method' in value;
    if (hasMethod && id !== undefined)
      wire.send(printError(id, { code: INVALID_REQUEST, message: `${reason}` }));
    const entry = hasMethod || !isObject(value) ? undefined : settle(value['id']);
    if (entry === undefined) return problem(`The server sent a message that cannot be read: ${reason}`);
    entry.reject(
      new McpError('bad_response', `The answer to ${entry.request.method} cannot be read: ${reason}`),
    );
  }

  function end(reason: McpError): void {
    endReason = reason;
    for (const { id, reject } of open.all()) {
      settle(id);
      reject(reason);
    }
    serverRequests.end(reason);
  }

  return {
    listen(listener) {
      const isStarted = events !== undefined;
      events = listener;
      if (isStarted || endReason !== undefined) return;
      wire.start({
        message: receive,
        tooLong(reason, answers) {
          const entry = answers === undefined ? undefined : settle(answers);
          if (entry === undefined) return events?.problem(reason);
          const why = `${reason} Ask for less, or raise \`maxMessageBytes\`.`;
          entry.reject(
            new McpError('bad_response', `The answer to ${entry.request.method} was not read. ${why}`),
          );
        },
        // The wire limits its own reports.
        problem: (message, cause) => events?.problem(message, cause),
        closed(reason) {
          if (endReason !== undefined) return;
          end(reason);
          events?.closed(reason);
        },
      });
    },
    request,
    notify(method, params) {
      if (endReason === undefined) wire.send(printNotification(method, params));
    },
    close() {
      if (endReason === undefined) end(new McpError('connection_closed', 'The connection was closed'));
      return wire.close();
    },
  };
}
