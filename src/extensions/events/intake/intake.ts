// Webhooks of third parties as events: each is verified, made into events by the program, and answered when they are kept.

import { settlesWithin } from '../../../async/deadline.js';
import type { BackoffOptions } from '../../../async/delay.js';
import { Retries } from '../../../async/retries.js';
import { isObject, type JsonObject } from '../../../jsonrpc/message.js';
import { MAX_DEPTH, parseJson, RefusedJson } from '../../../jsonrpc/parse.js';
import { type OptionTable, readOptions } from '../../../protocol/checks/options.js';
import { encodeBase64Url } from '../../../protocol/encoding/base64.js';
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
import { type WebhookKey, webhookKey } from '../../../protocol/events/signature.js';
import type { DataOf } from '../../../server/define/event.js';
import type { EmitAny, EmitOptions } from '../../../server/state/emitting.js';
import { senders, type WebhookSender } from './senders.js';

/** A webhook of a third party whose signature was verified. */
export interface IncomingWebhook {
  /** The id that the sender gave it, the same in each repetition. Without one: a digest of the body. */
  readonly id: string;
  /** The type, in the words of the sender: `x-github-event` of GitHub, otherwise `type` of the body; undefined if there is none. */
  readonly type: string | undefined;
  /** The body. */
  readonly body: JsonObject;
  /** Reads a header of the request. Only those that the sender signs are verified. */
  readonly header: (name: string) => string | undefined;
}

/** An event that a webhook stands for. */
export type WebhookEvent<E> = {
  [Name in keyof E & string]: {
    /** The name of the type. */
    readonly name: Name;
    /** The data of the event. */
    readonly data: DataOf<E[Name]>;
  } & Pick<EmitOptions, 'eventId' | 'timestamp' | 'meta'>;
}[keyof E & string];

/** The options of `eventFrom`. */
export interface EventFromOptions<E = Readonly<Record<string, never>>> {
  /**
   * How the sender signs: `stripe` (`t=…,v1=…` in `Stripe-Signature`), `github` (`X-Hub-Signature-256`) or `standard` (Standard Webhooks).
   */
  readonly sender: 'stripe' | 'github' | 'standard';
  /** The secret that the sender signs with, or several while it is being replaced. */
  readonly secret: string | readonly string[];
  /**
   * Makes the event of a webhook: one, several (at most 100), or undefined if there is none. The id of the event is that of the webhook, so
   * that one which is sent twice is one event.
   */
  readonly event: (webhook: IncomingWebhook) => Returned<E> | Promise<Returned<E>>;
  /** The header with the signature, for senders that sign in the same way and name it otherwise. Default: that of the sender. */
  readonly header?: string;
  /** The largest body, in bytes, up to 26,214,400. Default: 1,048,576. */
  readonly maxBytes?: number;
  /** Called when a webhook was genuine and no event could be made of it. Default: `console.error`. */
  readonly onProblem?: (problem: {
    /** The problem in one sentence, without secrets. */
    readonly message: string;
    /** The error that caused the problem. */
    readonly cause?: unknown;
  }) => void;
}

type Returned<E> = WebhookEvent<E> | readonly WebhookEvent<E>[] | undefined;

const table = {
  sender: { oneOf: ['stripe', 'github', 'standard'], required: true },
  secret: { is: ['string', 'strings'], required: true },
  event: { is: 'function', required: true },
  header: 'string',
  maxBytes: { is: 'count', max: 26_214_400, default: 1_048_576 },
  onProblem: 'function',
} as const satisfies OptionTable<EventFromOptions>;

/** An intake, before it has handlers for the requests of a runtime. */
export interface IntakeCore {
  readonly answer: (request: WebhookRequest) => Promise<void>;
  readonly problem: (message: string, cause?: unknown) => void;
}

const MAX_SECRETS = 8;
const MAX_EVENTS = 100;
const MAX_ID = 1024;
const RETRY: BackoffOptions = { baseMs: 100, maxMs: 1000 };
/** Some senders never repeat a webhook, so the server tries again itself while they wait. */
const RETRY_MS = 6000;

/** Makes an intake whose events `emit` keeps. */
export function intake(emit: EmitAny, options: EventFromOptions): IntakeCore {
  const { onProblem = print, ...rest } = readOptions('eventFrom', options, table);
  const sender: WebhookSender = senders[rest.sender];
  const { header = sender.header, maxBytes } = rest;
  const keys = readKeys(sender, rest.secret);
  const door = new WebhookDoor(problem);

  function problem(message: string, cause?: unknown): void {
    try {
      onProblem(cause === undefined ? { message } : { message, cause });
    } catch {
      // The program could not take the report of a problem: there is nobody else to tell.
    }
  }

  async function receive(request: WebhookRequest): Promise<ReceiverReply> {
    if (!hasJson(request))
      return refused(415, 'The body must be JSON. Set the content type of this webhook to application/json.');
    const text = await readWebhook(request, maxBytes);
    if (typeof text !== 'string') return text;
    // A body that was not UTF-8 has other bytes now, and does not verify.
    const bytes = new TextEncoder().encode(text);
    const name = header.toLowerCase();
    const refusal = await sender.refuse({ request, body: bytes, header: name, keys: await keys });
    if (refusal !== undefined) return refusal;
    const body = parseJson(text, MAX_DEPTH);
    if (body instanceof RefusedJson || !isObject(body))
      return refused(400, 'The body must be a JSON object that is not nested too deeply.');
    const passing = pass(await webhookOf(sender, { request, body, bytes }));
    return (await settlesWithin(passing, ACCEPT_MS)) ? passing : later;
  }

  /** Keeps the events of a webhook. */
  async function pass(webhook: IncomingWebhook): Promise<ReceiverReply> {
    try {
      const events = readEvents(await options.event(webhook));
      await Promise.all(
        events.map((event, at) => keep(event, at === 0 ? webhook.id : `${webhook.id}-${at}`)),
      );
      return accepted;
    } catch (error) {
      problem(`The webhook ${webhook.id} is not kept as an event`, error);
      return later;
    }
  }

  async function keep({ name, data, ...given }: AnyEvent, id: string): Promise<void> {
    const retries = new Retries({ ...RETRY, forMs: RETRY_MS, unref: true });
    let failure: unknown;
    while (await retries.next()) {
      try {
        await emit(name, data, { ...given, eventId: given.eventId ?? id });
        return;
      } catch (error) {
        failure = error;
        // The same event is refused again each time.
        if (error instanceof TypeError || error instanceof RangeError) break;
      }
    }
    throw failure;
  }

  return { answer: (request) => door.answer(request, receive), problem };
}

type AnyEvent = {
  readonly name: string;
  readonly data: object;
} & Pick<EmitOptions, 'eventId' | 'timestamp' | 'meta'>;

function readEvents(returned: unknown): readonly AnyEvent[] {
  const events: readonly unknown[] =
    returned === undefined ? [] : Array.isArray(returned) ? returned : [returned];
  if (events.length > MAX_EVENTS)
    throw new TypeError(`eventFrom: "event" returned ${events.length} events, and may return ${MAX_EVENTS}.`);
  const isRight = (one: unknown): boolean =>
    isObject(one) && typeof one['name'] === 'string' && isObject(one['data']);
  if (!events.every(isRight))
    throw new TypeError(
      'eventFrom: "event" must return { name, data }, an array of these, or undefined if there is nothing to tell.',
    );
  return events as readonly AnyEvent[];
}

function readKeys(sender: WebhookSender, secret: string | readonly string[]): Promise<readonly WebhookKey[]> {
  const secrets = typeof secret === 'string' ? [secret] : secret;
  const bytes = secrets.map((one) => sender.keyOf(one));
  if (bytes.length === 0 || bytes.length > MAX_SECRETS || bytes.includes(undefined))
    throw new TypeError(
      `eventFrom: "secret" must be a string ${sender.secretForm}, or an array of 1 to ${MAX_SECRETS} such strings.`,
    );
  const keys = Promise.all(bytes.map((one) => webhookKey(one as Uint8Array<ArrayBuffer>)));
  // A failure belongs to the first request.
  keys.catch(() => undefined);
  return keys;
}

async function webhookOf(
  sender: WebhookSender,
  {
    request,
    body,
    bytes,
  }: { readonly request: WebhookRequest; readonly body: JsonObject; readonly bytes: Uint8Array<ArrayBuffer> },
): Promise<IncomingWebhook> {
  const id = sender.idOf(request, body);
  const type = sender.typeOf(request, body);
  const isId = typeof id === 'string' && id !== '' && id.length <= MAX_ID;
  return {
    id: isId ? id : `body_${encodeBase64Url(new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)))}`,
    type: typeof type === 'string' ? type : undefined,
    body,
    header: (name) => request.header(name.toLowerCase()),
  };
}

function print({ message, cause }: { readonly message: string; readonly cause?: unknown }): void {
  console.error(message, cause);
}
