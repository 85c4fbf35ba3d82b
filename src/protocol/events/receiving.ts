// The receiving end of webhooks, whoever sends them: requests, replies, and the limits of both.

import type { JsonObject } from '../../jsonrpc/message.js';
import { webhookHeaders } from './wire.js';

/** The part of an HTTP request that a receiver needs, on any runtime. */
export interface WebhookRequest {
  readonly method: string;
  readonly query: string;
  header(name: string): string | undefined;
  read(
    limits: { readonly maxBytes: number; readonly silenceMs: number },
    receiver: { receiveBody(text: string): void; fail(error: unknown): void },
  ): void;
  reply(status: number, headers: Readonly<Record<string, string>>, body?: string): void;
}

/** A reply to a webhook. */
export interface ReceiverReply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: JsonObject;
}

/** The time for the program to accept a message. Senders wait for 5 to 15 s. */
export const ACCEPT_MS = 8000;
/** The time in which a body must have arrived, and the silence in it that is tolerated. */
const BODY_MS = 10_000;
const SILENCE_MS = 5000;
/** The requests that are answered at the same time. */
const MAX_OPEN = 1000;
/** The longest header that is looked at, and the longest one with signatures. */
const MAX_HEADER = 1024;
const MAX_SIGNATURE = 4096;

/** The webhook was accepted. */
export const accepted: ReceiverReply = { status: 204 };
/** The sender repeats the webhook. */
export const later: ReceiverReply = { status: 503, headers: { 'retry-after': '1' } };

/** The webhook is refused, with the reason. */
export function refused(status: number, error: string): ReceiverReply {
  return { status, body: { error } };
}

/** The door of a receiver: replies to requests, a bounded number of them at the same time. */
export class WebhookDoor {
  readonly #problem: (message: string, cause?: unknown) => void;
  #open = 0;

  /** `problem` hears of errors, for which the sender repeats its webhook. */
  constructor(problem: (message: string, cause?: unknown) => void) {
    this.#problem = problem;
  }

  /** Answers a request. Never rejects: a failure is a reply. */
  async answer(
    request: WebhookRequest,
    receive: (request: WebhookRequest) => Promise<ReceiverReply>,
  ): Promise<void> {
    const { status, headers = {}, body } = await this.#replyTo(request, receive);
    if (body === undefined) request.reply(status, headers);
    else request.reply(status, { ...headers, 'content-type': 'application/json' }, JSON.stringify(body));
  }

  async #replyTo(
    request: WebhookRequest,
    receive: (request: WebhookRequest) => Promise<ReceiverReply>,
  ): Promise<ReceiverReply> {
    if (request.method !== 'POST') return { status: 405, headers: { allow: 'POST' } };
    if (this.#open >= MAX_OPEN) return later;
    this.#open += 1;
    try {
      return await receive(request);
    } catch (error) {
      this.#problem('A webhook could not be accepted', error);
      return later;
    } finally {
      this.#open -= 1;
    }
  }
}

/** Whether the body of a request is JSON, as its header says. */
export function hasJson(request: WebhookRequest): boolean {
  const type = request.header('content-type') ?? '';
  return type.split(';')[0]?.trim().toLowerCase() === 'application/json';
}

/** Reads a body within its limits, or returns the reply to one that is beyond them. */
export function readWebhook(request: WebhookRequest, maxBytes: number): Promise<string | ReceiverReply> {
  if (Number(request.header('content-length') ?? 0) > maxBytes) return Promise.resolve({ status: 413 });
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, BODY_MS, { status: 408 });
    const settle = (outcome: string | ReceiverReply): void => {
      clearTimeout(timer);
      resolve(outcome);
    };
    request.read(
      { maxBytes, silenceMs: SILENCE_MS },
      {
        receiveBody: settle,
        fail: (error) => settle({ status: statusOf(error) }),
      },
    );
  });
}

/** The errors of bodies are those of the transport, by their names. */
function statusOf(error: unknown): number {
  const { name } = error instanceof Error ? error : {};
  if (name === 'BodyTooLarge') return 413;
  return name === 'BodyStalled' ? 408 : 400;
}

/** A header that is not empty and not too long; undefined for any other. */
export function headerOf(
  request: WebhookRequest,
  name: string,
  most: number = MAX_HEADER,
): string | undefined {
  const value = request.header(name);
  return value === undefined || value === '' || value.length > most ? undefined : value;
}

/** A header with signatures. */
export function signatureHeaderOf(request: WebhookRequest, name: string): string | undefined {
  return headerOf(request, name, MAX_SIGNATURE);
}

/** A time in seconds since 1970, as headers have it; undefined if it is not one. */
export function readSeconds(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,12}$/.test(text) ? Number(text) : undefined;
}

/** The headers of a message by the Standard Webhooks specification, whatever its age. Undefined if one is missing or malformed. */
export function readStandardHead(
  request: WebhookRequest,
): { readonly id: string; readonly timestamp: number; readonly signature: string } | undefined {
  const id = headerOf(request, webhookHeaders.id);
  const signature = signatureHeaderOf(request, webhookHeaders.signature);
  const timestamp = readSeconds(request.header(webhookHeaders.timestamp));
  return id === undefined || signature === undefined || timestamp === undefined
    ? undefined
    : { id, timestamp, signature };
}
