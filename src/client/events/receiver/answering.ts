// Answers webhooks: verifies them, passes them on once, and says what became of them.

import { settlesWithin } from '../../../async/deadline.js';
import { isObject, type JsonObject } from '../../../jsonrpc/message.js';
import { MAX_DEPTH, parseStrictly, RefusedJson } from '../../../jsonrpc/parse.js';
import { shorten } from '../../../protocol/encoding/shorten.js';
import { fromWire, type McpError } from '../../../protocol/errors.js';
import { dialects } from '../../../protocol/events/dialects.js';
import {
  ACCEPT_MS,
  accepted,
  hasJson,
  later,
  type ReceiverReply,
  readWebhook,
  refused,
  WebhookDoor,
  type WebhookRequest,
} from '../../../protocol/events/receiving.js';
import { MAX_WEBHOOK_BYTES } from '../../../protocol/events/wire.js';
import type { ReceivedEvent } from '../../model/events.js';
import { outlookOf, toEventError } from '../failures.js';
import { readEvent } from '../read-events.js';
import type { WebhookSource } from './model.js';
import { refIn, type WebhookRecord, type WebhookRecords } from './records.js';
import { readHead, Verifier, type WebhookHead } from './verifying.js';

export interface WebhookAnsweringParts {
  readonly records: WebhookRecords;
  /** The secrets of webhooks that others have subscribed. */
  readonly secrets: readonly string[];
  readonly onEvent: (event: ReceivedEvent, source: WebhookSource) => void | Promise<void>;
  readonly onGap: (cursor: string | null, source: WebhookSource) => void | Promise<void>;
  readonly onTerminated: (
    error: McpError,
    source: WebhookSource,
    ref: string | undefined,
  ) => void | Promise<void>;
  readonly problem: (message: string, cause?: unknown) => void;
}

const MAX_CHALLENGE = 4096;
/** Whether a message with an event has the id of the event in every dialect. */
const HAS_EVENT_ID = Object.values(dialects).every(({ webhookId }) => webhookId === 'event');

const unauthorized: ReceiverReply = { status: 401 };
const bad = (why: string): ReceiverReply => refused(400, why);

/** Answers the webhooks of one receiver. */
export class Answering {
  readonly #parts: WebhookAnsweringParts;
  readonly #verifier = new Verifier();
  /** Messages that the application is accepting, by subscription and id. */
  readonly #accepting = new Map<string, Promise<ReceiverReply>>();
  readonly #door: WebhookDoor;

  constructor(parts: WebhookAnsweringParts) {
    this.#parts = parts;
    this.#door = new WebhookDoor(parts.problem);
  }

  /** Answers a request. Never rejects: a failure is a reply. */
  answer(request: WebhookRequest): Promise<void> {
    return this.#door.answer(request, (each) => this.#receive(each));
  }

  async #receive(request: WebhookRequest): Promise<ReceiverReply> {
    if (!hasJson(request)) return { status: 415 };
    const head = readHead(request);
    if (head === undefined) return unauthorized;
    const ref = refIn(request.query);
    const record = ref === undefined ? undefined : await this.#parts.records.get(ref);
    // Without a subscription, only a secret that the program itself has named can verify the message.
    const secrets = record === undefined ? this.#parts.secrets : secretsOf(record, this.#parts.secrets);
    if (secrets.length === 0) return unauthorized;
    const text = await readWebhook(request, MAX_WEBHOOK_BYTES);
    if (typeof text !== 'string') return text;
    if (!(await this.#verifier.verify(head, text, secrets))) return unauthorized;
    const body = parseStrictly(text, MAX_DEPTH);
    if (body instanceof RefusedJson || !isObject(body)) return bad('The body is not a JSON object.');
    return this.#accept(body, { head, record, ref: record === undefined ? undefined : ref });
  }

  async #accept(body: JsonObject, message: VerifiedMessage): Promise<ReceiverReply> {
    const { head, record } = message;
    const { type, challenge, cursor } = body;
    if (type === 'verification')
      return typeof challenge === 'string' && challenge.length <= MAX_CHALLENGE
        ? { status: 200, body: { challenge } }
        : bad('"challenge" must be a string.');
    if (record !== undefined) {
      // The answer to the subscribing request is on the way: the first retry will find the id.
      if (record.id === null) return later;
      if (record.id !== head.subscription) return unauthorized;
    }
    const source = sourceOf(message);
    if (type === 'terminated') return this.#terminate(body, message, source);
    if (record?.refreshBefore != null && Date.now() > record.refreshBefore) return { status: 410 };
    if (type === 'gap') {
      if (typeof cursor !== 'string') return bad('"cursor" must be a string.');
      return this.#once(message, () => this.#onGap(cursor, message, source));
    }
    if (type !== undefined) return bad('The type of the message is not known.');
    const event = readEvent(body, record?.name);
    if (typeof event === 'string') return bad(`The event is malformed: ${event}.`);
    if (HAS_EVENT_ID && event.eventId !== head.id) return bad('"eventId" must be the header webhook-id.');
    return this.#once(message, () => this.#parts.onEvent(event, source));
  }

  async #onGap(cursor: string, { ref }: VerifiedMessage, source: WebhookSource): Promise<void> {
    if (ref !== undefined) await this.#parts.records.change(ref, (record) => record && { ...record, cursor });
    await this.#parts.onGap(cursor, source);
  }

  #terminate(
    { error }: JsonObject,
    message: VerifiedMessage,
    source: WebhookSource,
  ): Promise<ReceiverReply> | ReceiverReply {
    const { code, message: text, data } = isObject(error) ? error : {};
    if (typeof code !== 'number') return bad('"error" must have a code.');
    const failure = toEventError(
      fromWire({
        code,
        message: typeof text === 'string' ? shorten(text, 2000) : 'The server ended the subscription',
        ...(data !== undefined && { data }),
      }),
    );
    return this.#once(
      message,
      async () => {
        const { ref } = message;
        // After a change of the type, the subscription can be made again from its position.
        if (ref !== undefined && outlookOf(failure) === 'list')
          await this.#parts.records.change(ref, (record) => record && { ...record, id: null });
        else if (ref !== undefined) await this.#parts.records.delete(ref);
        await this.#parts.onTerminated(failure, source, ref);
      },
      { isLast: true },
    );
  }

  /** Passes a message on unless it was confirmed before, or is being passed on at the moment. */
  async #once(
    { head, ref }: VerifiedMessage,
    pass: () => void | Promise<void>,
    { isLast = false }: { readonly isLast?: boolean } = {},
  ): Promise<ReceiverReply> {
    // With a secret that several subscriptions share, the ids of all of them are remembered together.
    const place = ref ?? 'shared';
    const id = ref === undefined ? `${head.subscription} ${head.id}` : head.id;
    const key = `${place} ${id}`;
    const passing = this.#accepting.get(key) ?? this.#pass({ place, id, key, pass, isLast });
    // The sender gives up soon, and repeats the message. It is confirmed then, if the application has accepted it by that time.
    return (await settlesWithin(passing, ACCEPT_MS)) ? passing : later;
  }

  #pass({ place, id, key, pass, isLast }: Passing): Promise<ReceiverReply> {
    const { records, problem } = this.#parts;
    const passing = (async (): Promise<ReceiverReply> => {
      try {
        if (await records.isConfirmed(place, id)) return accepted;
        await pass();
        if (!isLast) await records.confirm(place, id);
        return accepted;
      } catch (error) {
        problem('A webhook was not accepted, so that its sender repeats it', error);
        return later;
      } finally {
        this.#accepting.delete(key);
      }
    })();
    this.#accepting.set(key, passing);
    return passing;
  }
}

interface VerifiedMessage {
  readonly head: WebhookHead;
  readonly record: WebhookRecord | undefined;
  /** The name of the subscription, if this receiver has made it. */
  readonly ref: string | undefined;
}

interface Passing {
  readonly place: string;
  readonly id: string;
  readonly key: string;
  readonly pass: () => void | Promise<void>;
  readonly isLast: boolean;
}

function secretsOf({ secrets, previousUntil }: WebhookRecord, shared: readonly string[]): readonly string[] {
  return [...(Date.now() < previousUntil ? secrets : secrets.slice(0, 1)), ...shared];
}

function sourceOf({ head, record }: VerifiedMessage): WebhookSource {
  const { server, name, args } = record ?? {};
  return {
    id: head.subscription,
    subscription:
      server === undefined || name === undefined || args === undefined ? undefined : { server, name, args },
  };
}
