// Requests to a service over NATS, each with an inbox of its own for its notifications and its response.

import { hasEnded, onEnd } from '../../../async/lifetime.js';
import { ByNumber } from '../../../jsonrpc/by-number.js';
import type { JsonObject } from '../../../jsonrpc/message.js';
import { cancelledBy, McpError } from '../../../protocol/errors.js';
import type { Exchange, ExchangeEvents, OutgoingRequest } from '../../../transports/client/exchange.js';
import { limitReports } from '../../../transports/client/limit-reports.js';
import { printCall } from '../../../transports/client/print-call.js';
import type { NatsMessage } from '../connection/nats-types.js';
import { kindOf, NO_RESPONDERS, placeOf, withKind } from '../link/frames.js';
import { PartReader, splitMessage } from '../link/message-parts.js';
import { splitSubject } from '../link/subjects.js';
import { Instances } from './instances.js';
import type { NatsExchangeParts, OpenNatsRequest } from './open-request.js';
import { readReply } from './read-reply.js';

/** Opens an exchange with a service. Its requests go to any instance, and each stays with the one that accepted it. */
export function natsExchange(parts: NatsExchangeParts): Exchange {
  const { client, subjects, inbox, newHeaders, headers, maxMessageBytes } = parts;
  const open = new ByNumber<OpenNatsRequest>();
  let events: ExchangeEvents | undefined;
  let endReason: McpError | undefined;
  const problem = limitReports((message, cause) => events?.problem(message, cause));
  const instances = new Instances({ ...parts, open, settle, fail });

  const subscription = client.nc.subscribe(`${inbox}.*`, {
    callback(error, message) {
      if (error === null) receive(message);
      else
        lose(
          new McpError('forbidden', `NATS does not allow this client to receive answers: ${error.message}`),
        );
    },
  });
  const forget = client.listen({
    down: () =>
      lose(new McpError('connection_closed', `The connection to NATS at ${client.servers} was lost.`)),
  });

  async function request(request: OutgoingRequest): Promise<JsonObject> {
    const extra = headers === undefined ? undefined : await headers();
    return new Promise((resolve, reject) => {
      if (endReason !== undefined) return reject(endReason);
      if (hasEnded(request)) return reject(cancelledBy(request.signal.reason));
      const id = open.next();
      const data = new TextEncoder().encode(printCall(id, request));
      if (data.length > maxMessageBytes)
        return reject(
          new McpError(
            'invalid_request',
            `${request.method} was not sent: it has ${data.length} bytes, and a message may have ${maxMessageBytes}. Send less, or raise \`maxMessageBytes\`.`,
          ),
        );
      const [first = data, ...rest] = splitMessage(data, client.maxPayload);
      const reply = `${inbox}.${id}`;
      const entry: OpenNatsRequest = {
        id,
        request,
        reply,
        rest,
        sentAt: performance.now(),
        instance: undefined,
        incoming: undefined,
        resolve,
        reject,
        unlisten: onEnd(request, () => cancel(entry)),
      };
      open.add(entry);
      instances.watch();
      const own = extra !== undefined || rest.length > 0 ? newHeaders() : undefined;
      for (const [name, value] of Object.entries(extra ?? {})) own?.set(name, value);
      if (own !== undefined && rest.length > 0) withKind(own, 'part', { at: 0, count: rest.length + 1 });
      try {
        client.nc.publish(subjects.requests, first, { reply, ...(own && { headers: own }) });
      } catch (error) {
        fail(entry, unsent(request.method, error));
      }
    });
  }

  /** Removes a request from the open ones. Returns whether it was open. */
  function settle(entry: OpenNatsRequest): boolean {
    if (!open.delete(entry)) return false;
    entry.unlisten();
    return true;
  }

  function fail(entry: OpenNatsRequest, error: McpError): void {
    if (settle(entry)) entry.reject(error);
  }

  function cancel(entry: OpenNatsRequest): void {
    if (!settle(entry)) return;
    instances.cancel(entry);
    entry.reject(cancelledBy(entry.request.signal.reason));
  }

  function receive(message: NatsMessage): void {
    if (endReason !== undefined) return;
    const { last } = splitSubject(message.subject);
    const entry = open.get(Number(last));
    if (entry === undefined) return instances.receive(last, message);
    if (message.headers?.code === NO_RESPONDERS && entry.instance === undefined)
      return fail(
        entry,
        new McpError('connect_failed', `No instance of the service "${subjects.service}" is running.`, {
          data: { unsent: true },
        }),
      );
    const kind = kindOf(message.headers);
    if (kind === 'accepted') return instances.accept(entry, message);
    if (kind === 'part') return receivePart(entry, message);
    if (kind === undefined) return receiveData(entry, message, message.data);
    problem(`The service "${subjects.service}" sent a message of an unknown kind.`);
  }

  function receivePart(entry: OpenNatsRequest, message: NatsMessage): void {
    entry.incoming ??= new PartReader(maxMessageBytes);
    try {
      const data = entry.incoming.take(message.data, placeOf(message.headers));
      if (data === undefined) return;
      entry.incoming = undefined;
      receiveData(entry, message, data);
    } catch (error) {
      instances.cancel(entry);
      fail(
        entry,
        new McpError(
          'bad_response',
          `The answer to ${entry.request.method} was not read: ${(error as Error).message}.`,
        ),
      );
    }
  }

  function receiveData(entry: OpenNatsRequest, { headers: own }: NatsMessage, data: Uint8Array): void {
    if (data.length > maxMessageBytes) {
      instances.cancel(entry);
      return fail(
        entry,
        new McpError(
          'bad_response',
          `The answer to ${entry.request.method} has more than ${maxMessageBytes} bytes. Ask for less, or raise \`maxMessageBytes\`.`,
        ),
      );
    }
    try {
      readReply(data, { entry, headers: own, settle, fail, problem });
    } catch (error) {
      problem('A listener for messages of the server failed', error);
    }
  }

  function end(reason: McpError): void {
    endReason = reason;
    forget();
    instances.stop();
    subscription.unsubscribe();
    for (const entry of open.all()) fail(entry, reason);
  }

  function lose(reason: McpError): void {
    if (endReason !== undefined) return;
    end(reason);
    events?.closed(reason);
  }

  return {
    listen(listener) {
      events = listener;
    },
    request,
    // In this revision, a client sends no notification but cancellations.
    notify() {},
    async close() {
      if (endReason === undefined) {
        for (const entry of open.all()) instances.cancel(entry);
        end(new McpError('connection_closed', 'The connection was closed'));
      }
    },
  };
}

// The client of NATS refuses headers that are too large, and everything once it is closed.
function unsent(method: string, error: unknown): McpError {
  const reason = error instanceof Error ? error.message : String(error);
  return new McpError('connect_failed', `${method} was not sent: ${reason}.`, {
    cause: error,
    data: { unsent: true },
  });
}
