import { settlesWithin } from '../../../async/deadline.js';
import { PausableTimeout } from '../../../async/pausable-timeout.js';
import { EventStreamReader } from '../../../jsonrpc/event-stream.js';
import { printError, readMessage } from '../../../jsonrpc/message.js';
import { McpError, toMcpError } from '../../../protocol/errors.js';
import { newestSession } from '../../../protocol/tables/features.js';
import type { Wire, WireEvents } from '../../../transports/client/wire.js';
import type { HttpCarrier } from '../../../transports/http/client/carrier.js';
import { refusal } from '../../../transports/http/client/failures.js';
import type { HttpLinkOptions } from '../../../transports/http/client/link.js';
import { discard, isOk } from '../../../transports/http/client/read-body.js';
import { isEventStream, readStream } from '../../../transports/http/client/read-response.js';
import { type RequestScope, RequestScopes } from '../../../transports/http/client/request-scopes.js';
import { httpTarget, withoutCredentials } from '../../../transports/http/client/target.js';

// The client's side of HTTP+SSE.

const ENDPOINT_MS = 10_000;
const POSTING_MS = 30_000;
/** The longest time that a message waits for the reply to the one before it. Some servers reply only when a call has ended. */
const TURN_MS = 250;

/** A wire over HTTP+SSE (2024-11-05): all messages arrive on one stream, whose first event has the URL to post to. */
export function httpSseWire(url: URL, http: HttpLinkOptions, carrier?: HttpCarrier): Wire {
  const target = httpTarget(url, http, carrier);
  const requests = new RequestScopes();
  const never = new AbortController().signal;
  let events: WireEvents | undefined;
  let setEndpoint!: (endpoint: URL) => void;
  const endpoint = new Promise<URL>((resolve) => {
    setEndpoint = resolve;
  });
  let turn: Promise<unknown> = Promise.resolve();
  let isClosing = false;

  async function listen(scope: RequestScope): Promise<never> {
    const limit = new PausableTimeout(ENDPOINT_MS, noEndpoint);
    limit.signal.addEventListener('abort', () => end(limit.signal.reason as McpError), { once: true });
    let hasEndpoint = false;
    try {
      const reply = await target.send({
        method: 'GET',
        headers: { accept: 'text/event-stream' },
        until: scope,
        pauseTimeouts: (work) => limit.pauseFor(work),
      });
      if (!isOk(reply)) throw await refusal(reply, target);
      if (!isEventStream(reply)) {
        await discard(reply);
        throw new McpError(
          'bad_response',
          `${target.displayUrl} did not answer a GET with an event stream.`,
          {
            status: 406,
          },
        );
      }
      await readStream(reply, {
        reader: new EventStreamReader({ maxBytes: target.maxBytes }),
        scope,
        take(data, event) {
          if (event === 'endpoint' && !hasEndpoint) {
            hasEndpoint = true;
            limit.end();
            setEndpoint(resolveEndpoint(data, reply.url));
          } else if (event === 'message') events?.message(data);
          return undefined;
        },
      });
      throw streamEnded();
    } finally {
      limit.end();
    }
  }

  function noEndpoint(): McpError {
    return new McpError(
      'timeout',
      `${target.displayUrl} did not send the URL for messages within ${ENDPOINT_MS / 1000} seconds. Is it an HTTP+SSE server?`,
    );
  }

  function resolveEndpoint(data: string, base: string): URL {
    const endpointUrl = URL.canParse(data, base) ? withoutCredentials(new URL(data, base)) : undefined;
    if (endpointUrl?.origin === target.url.origin) return endpointUrl;
    throw new McpError(
      'bad_response',
      endpointUrl === undefined
        ? `${target.displayUrl} sent an invalid URL for messages.`
        : `${target.displayUrl} wants messages to be posted to another origin, ${endpointUrl.origin}. This is refused: the other origin could be anyone's.`,
    );
  }

  function streamEnded(cause?: unknown): McpError {
    return new McpError('connection_closed', `The event stream of ${target.displayUrl} has ended.`, {
      cause,
    });
  }

  /** Ends the connection for a reason other than `close`. */
  function end(reason: McpError): void {
    if (requests.closed) return;
    requests.close(reason);
    target.close();
    events?.closed(reason);
  }

  async function post(text: string, before: Promise<unknown>): Promise<void> {
    try {
      const url = await endpoint;
      await settlesWithin(before, TURN_MS);
      const limit = new PausableTimeout(POSTING_MS, notAccepted);
      await requests
        .run(limit, async (until) => {
          const pauseTimeouts = <T>(work: () => Promise<T>): Promise<T> => limit.pauseFor(work);
          const reply = await target.send({ url, headers: {}, body: text, until, pauseTimeouts });
          if (!isOk(reply)) throw await refusal(reply, target);
          await discard(reply);
        })
        .finally(() => limit.end());
    } catch (error) {
      if (!requests.closed) reportUndelivered(text, toMcpError(error));
    }
  }

  /** A request that did not reach the server gets no response on the stream, so its response is made here. */
  function reportUndelivered(text: string, error: McpError): void {
    if (error.status === 404 || error.status === 410) return end(streamEnded(error));
    const message = readMessage(JSON.parse(text));
    if (message.kind === 'request') events?.message(printError(message.id, error.toWire(newestSession)));
    else events?.problem('A message did not reach the server.', error);
  }

  return {
    send(text) {
      if (!requests.closed) turn = post(text, turn);
    },
    start(listener) {
      events = listener;
      requests.run({ signal: never }, listen).catch((error: unknown) => {
        if (!isClosing) end(McpError.is(error) ? error : streamEnded(error));
      });
    },
    async close() {
      isClosing = true;
      requests.close(new McpError('connection_closed', `The connection to ${target.displayUrl} was closed.`));
      target.close();
    },
  };
}

function notAccepted(): McpError {
  return new McpError('timeout', 'The server did not accept a message within 30 seconds.');
}
