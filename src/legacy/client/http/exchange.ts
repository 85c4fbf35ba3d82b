import { withDeadline } from '../../../async/deadline.js';
import {
  type JsonObject,
  type NotificationMessage,
  printNotification,
  type RequestId,
  type RequestMessage,
} from '../../../jsonrpc/message.js';
import { cancelledBy, McpError } from '../../../protocol/errors.js';
import { progressToken } from '../../../protocol/meta.js';
import type { Exchange, ExchangeEvents, OutgoingRequest } from '../../../transports/client/exchange.js';
import { fewReports } from '../../../transports/client/limit-reports.js';
import { peerRequests } from '../../../transports/client/peer-requests.js';
import { printCall } from '../../../transports/client/print-call.js';
import type { HttpCarrier, HttpReply } from '../../../transports/http/client/carrier.js';
import type { HttpLinkOptions } from '../../../transports/http/client/link.js';
import { discard, isOk } from '../../../transports/http/client/read-body.js';
import type { Expecting } from '../../../transports/http/client/read-response.js';
import { refusal } from '../../../transports/http/client/refusal.js';
import { type Lease, OpenRequests } from '../../../transports/http/client/request-scopes.js';
import { httpTarget } from '../../../transports/http/client/target.js';
import { readResumable } from './resumed-response.js';
import { type HttpSession, newSession, sessionHeaders, unlessLost } from './session.js';
import { listenToSession } from './session-stream.js';

const POSTING = {
  ms: 30_000,
  reason: () => new McpError('timeout', 'The server did not take a message within 30 seconds.'),
};
const GOODBYE = {
  ms: 2000,
  reason: () => new McpError('timeout', 'The server did not end the session within 2 seconds.'),
};

interface Asking extends Pick<Expecting, 'heard'> {
  readonly id: number;
  readonly sending: () => void;
  readonly lease: Lease;
}

interface Progress {
  readonly token: RequestId;
  readonly notified: OutgoingRequest['notified'];
}

/** Streamable HTTP with sessions, as 2025-03-26 to 2025-11-25 have it. */
export function httpSessionExchange(url: URL, http: HttpLinkOptions, carrier?: HttpCarrier): Exchange {
  const target = httpTarget(url, http, carrier);
  const requests = new OpenRequests();
  const asked = peerRequests((text) => post(text, 'An answer'));
  const progress = new Map<unknown, Progress>();
  const problem = fewReports((message, cause) => events?.problem(message, cause));
  let events: ExchangeEvents | undefined;
  let session = newSession();
  let lastId = 0;

  async function request(outgoing: OutgoingRequest): Promise<JsonObject> {
    const { method, signal } = outgoing;
    if (method === 'initialize') renew();
    const id = ++lastId;
    const questions: RequestId[] = [];
    let sent = false;
    const sending = (): void => {
      sent = true;
    };
    const heard: Expecting['heard'] = (message) => {
      if (message.kind === 'request') questions.push(message.id);
      hear(message, outgoing.notified);
    };
    try {
      return await requests.run({ signal }, (lease) => ask(outgoing, { id, heard, sending, lease }));
    } catch (error) {
      // Spec 2025-11-25, Cancellation: `initialize` must not be cancelled.
      if (sent && signal.aborted && method !== 'initialize') {
        notify('notifications/cancelled', { requestId: id, reason: (error as McpError).message });
      }
      throw error;
    } finally {
      progress.delete(id);
      // What was asked for the sake of this request is not wanted any more.
      for (const question of questions) asked.cancel(question);
    }
  }

  async function ask(outgoing: OutgoingRequest, { id, heard, sending, lease }: Asking): Promise<JsonObject> {
    const { method, params, notified } = outgoing;
    const { ready } = session;
    if (ready !== undefined) await ready;
    if (lease.ended) throw cancelledBy(lease.signal.reason);
    const mine = session;
    const token = params === undefined ? undefined : progressToken(params);
    if (token !== undefined) progress.set(id, { token, notified });
    const body = printCall(id, outgoing, token === undefined ? undefined : id);
    sending();
    const reply = await target.send({ headers: sessionHeaders(mine), body, until: lease });
    if (!isOk(reply)) throw unlessLost(mine, await refusal(reply, target));
    const opening = method === 'initialize';
    if (opening) begin(mine, reply);
    const result = await readResumable(reply, {
      target,
      session: mine,
      lease,
      expecting: { id, heard, problem },
    });
    if (opening && typeof result['protocolVersion'] === 'string') mine.version = result['protocolVersion'];
    return result;
  }

  function begin(mine: HttpSession, reply: HttpReply): void {
    mine.id = reply.header('mcp-session-id') || undefined;
    // Servers may do without sessions; a browser hides what it is not told to show.
    if (mine.id === undefined && reply.hidesHeaders)
      problem(
        `${target.shown} shows no session id. If it has sessions, it must name Mcp-Session-Id in Access-Control-Expose-Headers.`,
      );
  }

  /** Spec 2025-11-25, Session Management: a new session begins without the id of the old one. */
  function renew(): void {
    session.stop.abort();
    session = newSession();
  }

  function hear(message: RequestMessage | NotificationMessage, notified?: OutgoingRequest['notified']): void {
    const { kind, method, params } = message;
    if (kind === 'request') {
      if (events !== undefined) asked.answer(message, events.request);
    } else if (method === 'notifications/progress') {
      const of = progress.get(params?.['progressToken']);
      of?.notified?.(method, { ...params, progressToken: of.token });
    } else if (method === 'notifications/cancelled') {
      asked.cancel(params?.['requestId'] as RequestId);
    } else if (notified !== undefined && !concernsAll(method)) {
      notified(method, params);
    } else {
      events?.notification(method, params);
    }
  }

  /** Sends what has no answer. */
  async function post(text: string, what: string): Promise<void> {
    const mine = session;
    try {
      await withDeadline(POSTING, (signal) =>
        requests.run({ signal }, async (lease) => {
          const headers = sessionHeaders(mine);
          const reply = await target.send({ headers, body: text, until: lease, lane: 'brief' });
          if (!isOk(reply)) throw await refusal(reply, target);
          await discard(reply);
        }),
      );
    } catch (error) {
      if (!requests.closed) problem(`${what} did not reach the server.`, error);
    }
  }

  function notify(method: string, params?: JsonObject): void {
    const arrived = post(printNotification(method, params), method);
    if (method !== 'notifications/initialized') return;
    const mine = session;
    // Each message is a request of its own, and one that overtook this would be refused.
    mine.ready = arrived.then(() => {
      mine.ready = undefined;
      listen(mine);
    });
  }

  function listen(mine: HttpSession): void {
    requests
      .run(mine.stop, (lease) =>
        listenToSession({ target, session: mine, lease, hear, problem, missed: () => events?.missed?.() }),
      )
      .then(
        () => {},
        (error: McpError) => {
          if (requests.closed || mine.stop.signal.aborted) return;
          end(error);
          events?.closed(error);
        },
      );
  }

  function end(reason: McpError): void {
    requests.close(reason);
    asked.end(reason);
  }

  async function sayGoodbye(): Promise<void> {
    const headers = sessionHeaders(session);
    try {
      await withDeadline(GOODBYE, async (signal) =>
        discard(await target.send({ method: 'DELETE', headers, until: { signal }, lane: 'brief' })),
      );
    } catch {
      // Who is not there needs no goodbye.
    }
  }

  return {
    hear(listener) {
      events = listener;
    },
    request,
    notify,
    async close() {
      if (requests.closed) return target.close();
      end(new McpError('connection_closed', `The connection to ${target.shown} was closed.`));
      if (session.id !== undefined) await sayGoodbye();
      target.close();
    },
  };
}

/** What comes on a request's stream belongs to it, but for these, which servers send wherever a stream is open. */
function concernsAll(method: string): boolean {
  return method.endsWith('/list_changed') || method === 'notifications/resources/updated';
}
