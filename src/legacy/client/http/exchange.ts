import { withDeadline } from '../../../async/deadline.js';
import { backoff, delay } from '../../../async/delay.js';
import { Lifetime, onEnd } from '../../../async/lifetime.js';
import {
  type JsonObject,
  type NotificationMessage,
  printNotification,
  type RequestId,
  type RequestMessage,
} from '../../../jsonrpc/message.js';
import { cancelledBy, cancelReason, McpError, toMcpError } from '../../../protocol/errors.js';
import { progressToken } from '../../../protocol/meta.js';
import type { Exchange, ExchangeEvents, OutgoingRequest } from '../../../transports/client/exchange.js';
import { limitReports } from '../../../transports/client/limit-reports.js';
import { peerRequests } from '../../../transports/client/peer-requests.js';
import { printCall } from '../../../transports/client/print-call.js';
import type { HttpCarrier, HttpReply } from '../../../transports/http/client/carrier.js';
import { refusal } from '../../../transports/http/client/failures.js';
import type { HttpLinkOptions } from '../../../transports/http/client/link.js';
import { discard, isOk } from '../../../transports/http/client/read-body.js';
import type { ResponseListener } from '../../../transports/http/client/read-response.js';
import { type RequestScope, RequestScopes } from '../../../transports/http/client/request-scopes.js';
import { httpTarget } from '../../../transports/http/client/target.js';
import { readResumable } from './resumed-response.js';
import { type HttpSession, newSession, orSessionLost, sessionHeaders } from './session.js';
import { listenToSession } from './session-stream.js';

// The client's side of Streamable HTTP with sessions: requests, answers to the server, and the end of the session.

const POSTING = {
  ms: 30_000,
  reason: () => new McpError('timeout', 'The server did not accept a message within 30 seconds.'),
};
/** The time for which an answer is sent again: the user has given it, and its call waits for it. */
const ANSWERING_MS = 60_000;
const ENDING = {
  ms: 2000,
  reason: () => new McpError('timeout', 'The server did not end the session within 2 seconds.'),
};

/** The time for which the connection of a cancelled request stays open, if the server does not accept that it is cancelled. */
const TELLING_MS = 3000;

interface SendContext extends Pick<ResponseListener, 'onMessage'> {
  readonly id: number;
  readonly onSend: () => void;
  readonly scope: RequestScope;
}

interface Progress {
  readonly token: RequestId;
  readonly onNotification: OutgoingRequest['onNotification'];
}

/** An exchange over Streamable HTTP with sessions: revisions 2025-03-26 to 2025-11-25. */
export function httpSessionExchange(url: URL, http: HttpLinkOptions, carrier?: HttpCarrier): Exchange {
  const target = httpTarget(url, http, carrier);
  const requests = new RequestScopes();
  const serverRequests = peerRequests((text) => answer(text));
  const progress = new Map<unknown, Progress>();
  const problem = limitReports((message, cause) => events?.problem(message, cause));
  let events: ExchangeEvents | undefined;
  let session = newSession();
  let lastId = 0;

  async function request(outgoing: OutgoingRequest): Promise<JsonObject> {
    const { method, signal } = outgoing;
    if (method === 'initialize') renew();
    const id = ++lastId;
    const questions: RequestId[] = [];
    let isSent = false;
    const onSend = (): void => {
      isSent = true;
    };
    const onMessage: ResponseListener['onMessage'] = (message) => {
      // Nobody waits for a call that is cancelled.
      if (signal.aborted) return;
      if (message.kind === 'request') questions.push(message.id);
      receive(message, outgoing.onNotification);
    };
    // Spec 2025-11-25, Streamable HTTP: the notification cancels a request, and a closed connection does not. So the connection is closed
    // after the notification. Cancellation: `initialize` must not be cancelled.
    const network = new Lifetime();
    const cancel = async (): Promise<void> => {
      if (isSent && method !== 'initialize') {
        const params = { requestId: id, reason: cancelReason(signal.reason) };
        const telling = post(printNotification('notifications/cancelled', params), 'notifications/cancelled');
        await Promise.race([telling, delay(TELLING_MS, { unref: true })]);
      }
      network.end(signal.reason);
    };
    let unlisten: (() => void) | undefined;
    try {
      if (signal.aborted) throw cancelledBy(signal.reason);
      return await new Promise((resolve, reject) => {
        unlisten = onEnd({ signal }, () => {
          reject(cancelledBy(signal.reason));
          void cancel();
        });
        requests
          .run(network, (scope) => ask(outgoing, { id, onMessage, onSend, scope }))
          .then(resolve, reject);
      });
    } finally {
      unlisten?.();
      progress.delete(id);
      // Answers to the questions of this request are no longer needed.
      for (const question of questions) serverRequests.cancel(question);
    }
  }

  async function ask(
    outgoing: OutgoingRequest,
    { id, onMessage, onSend, scope }: SendContext,
  ): Promise<JsonObject> {
    const { method, params, onNotification, onRelease } = outgoing;
    const { ready } = session;
    if (ready !== undefined) await ready;
    if (scope.ended) throw cancelledBy(scope.signal.reason);
    const current = session;
    const token = params === undefined ? undefined : progressToken(params);
    if (token !== undefined) progress.set(id, { token, onNotification });
    const body = printCall(id, outgoing, token === undefined ? undefined : id);
    onSend();
    const reply = await target.send({ headers: sessionHeaders(current), body, until: scope });
    if (!isOk(reply)) throw orSessionLost(current, await refusal(reply, target));
    const isHandshake = method === 'initialize';
    if (isHandshake) begin(current, reply);
    const result = await readResumable(reply, {
      target,
      session: current,
      scope,
      listener: { id, onMessage, problem },
      onRelease,
    });
    if (isHandshake && typeof result['protocolVersion'] === 'string')
      current.version = result['protocolVersion'];
    return result;
  }

  function begin(current: HttpSession, reply: HttpReply): void {
    current.id = reply.header('mcp-session-id') || undefined;
    // A server may have no sessions. A browser hides headers that the server does not expose.
    if (current.id === undefined && reply.hidesHeaders)
      problem(
        `${target.displayUrl} does not show a session id. If it has sessions, it must list Mcp-Session-Id in Access-Control-Expose-Headers.`,
      );
  }

  /** Spec 2025-11-25, Session Management: a new session begins without the id of the old one. */
  function renew(): void {
    session.stop.abort();
    session = newSession();
  }

  function receive(
    message: RequestMessage | NotificationMessage,
    onNotification?: OutgoingRequest['onNotification'],
  ): void {
    const { kind, method, params } = message;
    if (kind === 'request') {
      if (events !== undefined) serverRequests.respond(message, events.request);
    } else if (method === 'notifications/progress') {
      const entry = progress.get(params?.['progressToken']);
      entry?.onNotification?.(method, { ...params, progressToken: entry.token });
    } else if (method === 'notifications/cancelled') {
      serverRequests.cancel(params?.['requestId'] as RequestId);
    } else if (onNotification !== undefined && !concernsAll(method)) {
      onNotification(method, params);
    } else {
      events?.notification(method, params);
    }
  }

  /** Sends a message that has no response. */
  async function post(text: string, what: string): Promise<void> {
    try {
      await deliver(text, session);
    } catch (error) {
      if (!requests.closed) problem(`${what} did not reach the server.`, error);
    }
  }

  /** Sends the answer to a question until the server has it. A server ignores an answer that it already has. */
  async function answer(text: string): Promise<void> {
    const current = session;
    const giveUpAt = performance.now() + ANSWERING_MS;
    for (let failures = 0; ; failures++) {
      try {
        return await deliver(text, current);
      } catch (error) {
        const isOver = session !== current || performance.now() > giveUpAt || !mayPass(toMcpError(error));
        if (!requests.closed && isOver) problem('An answer did not reach the server.', error);
        if (requests.closed || isOver) return;
      }
      await delay(backoff(failures, { baseMs: 200, maxMs: 5000 }), { unref: true });
    }
  }

  async function deliver(text: string, current: HttpSession): Promise<void> {
    await withDeadline(POSTING, (signal) =>
      requests.run({ signal }, async (scope) => {
        const headers = sessionHeaders(current);
        const options = { until: scope, lane: 'brief', mayAsk: false } as const;
        const reply = await target.send({ headers, body: text, ...options });
        if (!isOk(reply)) throw await refusal(reply, target);
        await discard(reply);
      }),
    );
  }

  function notify(method: string, params?: JsonObject): void {
    const delivery = post(printNotification(method, params), method);
    if (method !== 'notifications/initialized') return;
    const current = session;
    // Each message is an HTTP request of its own. A message that overtook this one would be rejected.
    current.ready = delivery.then(() => {
      current.ready = undefined;
      listen(current);
    });
  }

  function listen(current: HttpSession): void {
    requests
      .run(current.stop, (scope) =>
        listenToSession({
          target,
          session: current,
          scope,
          onMessage: receive,
          problem,
          missed: () => events?.missed?.(),
        }),
      )
      .then(
        () => {},
        (error: McpError) => {
          if (requests.closed || current.stop.signal.aborted) return;
          end(error);
          events?.closed(error);
        },
      );
  }

  function end(reason: McpError): void {
    requests.close(reason);
    serverRequests.end(reason);
  }

  async function endSession(): Promise<void> {
    const headers = sessionHeaders(session);
    try {
      await withDeadline(ENDING, async (signal) =>
        discard(
          await target.send({ method: 'DELETE', headers, until: { signal }, lane: 'brief', mayAsk: false }),
        ),
      );
    } catch {
      // The server is not reachable, so there is no session to end.
    }
  }

  return {
    listen(listener) {
      events = listener;
    },
    request,
    notify,
    sessionId: () => session.id,
    async close() {
      if (requests.closed) return target.close();
      end(new McpError('connection_closed', `The connection to ${target.displayUrl} was closed.`));
      if (session.id !== undefined) await endSession();
      target.close();
    },
  };
}

/** Whether a message that failed in this way may reach the server later. */
function mayPass({ code, status }: McpError): boolean {
  return ['connect_failed', 'connection_closed', 'timeout', 'overloaded'].includes(code) || status >= 500;
}

/** Whether a notification on a request's stream belongs to the session: servers send these on any open stream. */
function concernsAll(method: string): boolean {
  return method.endsWith('/list_changed') || method === 'notifications/resources/updated';
}
