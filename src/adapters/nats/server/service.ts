// One instance of a service: takes requests from NATS, hands them to the server, and sends the responses.

import { INVALID_REQUEST, printError, type RequestMessage } from '../../../jsonrpc/message.js';
import type { Auth, Dispatch } from '../../../protocol/call.js';
import { toAuth } from '../../../protocol/caller.js';
import { cancelledByClient, McpError, toMcpError } from '../../../protocol/errors.js';
import { newestRevision } from '../../../protocol/tables/revisions.js';
import { drain } from '../../../transports/server/drain.js';
import type { RefusalReporter } from '../../../transports/server/refusal-reporter.js';
import type { NatsClient } from '../connection/client.js';
import type { NatsHeaders, NatsMessage, NatsSubscription } from '../connection/nats-types.js';
import { kindOf, withKind } from '../link/frames.js';
import { type LinkSubjects, QUEUE } from '../link/subjects.js';
import { Callers } from './callers.js';
import { connectionLost, NatsCalls, type ServedCall } from './calls.js';
import type { NatsServiceOptions } from './options.js';
import { type RefusedRequest, readRequest } from './read-request.js';
import type { RequestStats } from './request-stats.js';
import type { SendReply } from './send-reply.js';
import { type UploadedRequest, Uploads } from './uploads.js';

export interface NatsServiceParts {
  readonly client: NatsClient;
  readonly id: string;
  readonly subjects: LinkSubjects;
  readonly newHeaders: () => NatsHeaders;
  readonly dispatch: Dispatch;
  readonly send: SendReply;
  readonly stats: RequestStats;
  readonly auth: NatsServiceOptions['auth'];
  /** Reports the requests whose credentials are refused. */
  readonly refused: RefusalReporter | undefined;
  readonly maxOpenCalls: number;
  readonly maxMessageBytes: number;
  readonly keepAliveMs: number;
}

/** The bytes of the reason of a cancellation that are read. */
const MAX_REASON_BYTES = 2048;
/** An instance of a service, from its first subscription to its last response. */
export class NatsService {
  readonly #parts: NatsServiceParts;
  readonly #calls: NatsCalls;
  readonly #callers: Callers;
  readonly #uploads: Uploads;
  readonly #subscriptions: NatsSubscription[] = [];
  readonly #forget: () => void;
  /** The reason for which NATS refuses a subscription. */
  refusal: Error | undefined;
  /** The calls that were lost with the connection, whose clients are told when it stands again. */
  #lostCalls: readonly ServedCall[] = [];

  constructor(parts: NatsServiceParts) {
    this.#parts = parts;
    const { client, dispatch, send, stats, keepAliveMs, maxMessageBytes } = parts;
    this.#uploads = new Uploads(maxMessageBytes);
    this.#calls = new NatsCalls({
      dispatch,
      send,
      onEnd: ({ beganAt }, error) => stats.add(performance.now() - beganAt, error),
    });
    this.#callers = new Callers({
      calls: this.#calls,
      uploads: this.#uploads,
      keepAliveMs,
      accept: (reply) => this.#accept(reply),
    });
    this.#forget = client.listen({ down: () => this.#onDown(), up: () => this.#onUp() });
  }

  /** Begins to take requests. */
  start(): void {
    const { id, subjects } = this.#parts;
    const control = (message: NatsMessage): void => this.#receiveControl(message);
    this.#subscribe(subjects.instance(id), control);
    this.#subscribe(subjects.all, control);
    this.#subscribe(subjects.requests, (message) => this.#receiveRequest(message), QUEUE);
  }

  /** Takes no further requests, lets open calls finish until the deadline, and ends the rest. */
  async close(drainMs: number): Promise<void> {
    const [requests] = this.#subscriptions.splice(-1);
    // Requests that are on the way are still served.
    await requests?.drain().catch(() => undefined);
    await drain(this.#calls, drainMs);
    this.#forget();
    this.#callers.stop();
    for (const subscription of this.#subscriptions) subscription.unsubscribe();
  }

  #subscribe(subject: string, receive: (message: NatsMessage) => void, queue?: string): void {
    const { client } = this.#parts;
    const callback = (error: Error | null, message: NatsMessage): void => {
      if (error === null) receive(message);
      else
        this.refusal ??= new Error(
          `NATS does not allow this server to listen to ${subject}: ${error.message}`,
        );
    };
    this.#subscriptions.push(client.nc.subscribe(subject, { callback, ...(queue && { queue }) }));
  }

  #receiveRequest(message: NatsMessage): void {
    const { reply } = message;
    if (!reply) return;
    const kind = kindOf(message.headers);
    if (this.#calls.size + this.#uploads.size >= this.#parts.maxOpenCalls)
      return this.#refuseOverload(message);
    if (kind === undefined) return void this.#handle({ data: message.data, headers: message.headers }, reply);
    if (kind !== 'part')
      return this.#refuse(reply, invalid('This server does not know messages of this kind'));
    try {
      this.#uploads.begin({ reply, data: message.data, headers: message.headers });
      this.#callers.opened(reply);
      this.#accept(reply);
    } catch (error) {
      this.#refuse(reply, invalid(`Invalid message: ${(error as Error).message}`));
    }
  }

  #receiveControl(message: NatsMessage): void {
    const { reply } = message;
    if (!reply) return;
    switch (kindOf(message.headers)) {
      case 'cancel':
        this.#uploads.drop(reply);
        return this.#calls.cancel(
          reply,
          cancelledByClient(new TextDecoder().decode(message.data.subarray(0, MAX_REASON_BYTES))),
        );
      case 'beat': {
        const ids = this.#callers.heard(reply).join(',');
        const headers = withKind(this.#parts.newHeaders(), 'beat');
        return this.#parts.client.nc.publish(reply, ids, { headers });
      }
      case 'part':
        return this.#receivePart(message, reply);
      default:
    }
  }

  #receivePart(message: NatsMessage, reply: string): void {
    try {
      const request = this.#uploads.take({ reply, data: message.data, headers: message.headers });
      if (request !== undefined) void this.#handle(request, reply);
    } catch (error) {
      this.#refuse(reply, invalid(`Invalid message: ${(error as Error).message}`));
    }
  }

  async #handle({ data, headers }: UploadedRequest, reply: string): Promise<void> {
    const request = readRequest(data, this.#parts.maxMessageBytes);
    if (request.kind === 'refused') return this.#refuse(reply, request);
    if (this.#parts.auth === undefined) this.#begin(request, reply, undefined);
    else await this.#authenticate(request, headers, reply);
  }

  async #authenticate(
    request: RequestMessage,
    headers: NatsHeaders | undefined,
    reply: string,
  ): Promise<void> {
    const { auth } = this.#parts;
    try {
      const caller = await auth?.({ header: (name) => headers?.get(name, 'insensitive') || undefined });
      this.#begin(request, reply, toAuth(caller ?? undefined));
    } catch (thrown) {
      const error = toMcpError(thrown);
      this.#parts.refused?.note(error, { address: undefined, fields: () => fieldsOf(headers) });
      this.#parts.send(reply, printError(request.id, error.toWire(newestRevision)), error);
    }
  }

  #begin(request: RequestMessage, reply: string, auth: Auth | undefined): void {
    if (this.#calls.has(reply))
      return this.#refuse(reply, invalid('A request with this inbox is already open', request.id));
    this.#calls.begin(request, { reply, auth });
    this.#callers.opened(reply);
  }

  #accept(reply: string): void {
    const { client, id, subjects, newHeaders } = this.#parts;
    client.nc.publish(reply, '', {
      reply: subjects.instance(id),
      headers: withKind(newHeaders(), 'accepted'),
    });
  }

  #refuse(reply: string, { code, message, id }: Omit<RefusedRequest, 'kind'>): void {
    const error = new McpError('invalid_request', message);
    this.#parts.stats.add(0, error);
    this.#parts.send(reply, printError(id, { code, message }), error);
  }

  // The request was not begun, so every client may send it again.
  #refuseOverload({ reply = '' }: NatsMessage): void {
    const { maxOpenCalls, stats } = this.#parts;
    const overload = new McpError(
      'overloaded',
      `${maxOpenCalls} calls are open on this instance. Retry later.`,
      { status: 429 },
    );
    stats.add(0, overload);
    this.#parts.send(reply, printError(undefined, overload.toWire(newestRevision)), overload);
  }

  // A client whose connection is lost has cancelled its calls, in this era. The loss of our own looks the same to the clients.
  #onDown(): void {
    this.#lostCalls = [...this.#lostCalls, ...this.#calls.all()].slice(-this.#parts.maxOpenCalls);
    void this.#calls.endAll(connectionLost('The connection was lost'));
    for (const reply of [...this.#uploads.replies()]) this.#uploads.drop(reply);
  }

  #onUp(): void {
    const reason = connectionLost(
      'The server lost its connection to NATS during the call. It is not known whether the call took effect.',
    );
    for (const { reply, id } of this.#lostCalls)
      this.#parts.send(reply, printError(id, reason.toWire(newestRevision)), reason);
    this.#lostCalls = [];
  }
}

function invalid(message: string, id?: RequestMessage['id']): Omit<RefusedRequest, 'kind'> {
  return { code: INVALID_REQUEST, message, id };
}

function* fieldsOf(headers: NatsHeaders | undefined): Generator<readonly [string, string]> {
  for (const name of headers?.keys() ?? []) yield [name, headers?.get(name) ?? ''];
}
