// Asks a model over HTTP: one attempt, with limits on time and size.

import { withDeadline } from '../../async/deadline.js';
import { EventStreamReader, EventTooLarge } from '../../jsonrpc/event-stream.js';
import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import { tryParseObject } from '../../jsonrpc/try-parse.js';
import { readRetryAfter } from '../../protocol/encoding/retry-after.js';
import { KnownValues } from '../../protocol/secrets/known-values.js';
import { hideRecognized } from '../../protocol/secrets/recognized.js';
import { cleanLine } from '../../tooling/clean.js';
import type { ModelDialect } from './dialect.js';
import { dialects } from './dialects.js';
import { type AskModel, ModelError, type ModelReply } from './model.js';
import { stringOf } from './reply-parts.js';
import type { ModelTarget } from './target.js';

const MAX_REPLY_BYTES = 16_000_000;
const MAX_ERROR_BYTES = 16_000;

/** Makes the function that asks a model. The key is sent in a header, and is in no error. */
export function modelOverHttp(target: ModelTarget, key: string): AskModel {
  const dialect = dialects[target.api];
  const values = new KnownValues([key], { minLength: 4 });
  const hide = hideRecognized();
  const conceal = (text: string): string => cleanLine(hide(values.hide(text)), 300);
  const place = `The model ${target.name} at ${target.url.host}`;

  return async function askModel(request, { signal, onWords }) {
    const body = JSON.stringify({ ...dialect.body(request, target), ...streaming(target) });
    const reason = (): ModelError =>
      new ModelError('silent', `${place} took longer than ${target.timeoutMs} ms.`);
    return withDeadline({ ms: target.timeoutMs, signal, reason }, async (limited) => {
      const silence = new Silence(target.silenceMs, place, limited);
      try {
        const response = await send(target, { body, key, dialect, signal: silence.signal });
        if (!response.ok) throw await refusal(response, { place, conceal, silence });
        return await readReply(response, { dialect, silence, place, conceal, onWords });
      } catch (error) {
        throw asModelError(error, { place, silence: silence.signal, conceal });
      } finally {
        silence.end();
      }
    });
  };
}

function streaming({ api, stream }: ModelTarget): JsonObject {
  if (!stream) return { stream: false };
  return { stream: true, ...(api === 'openai-chat' && { stream_options: { include_usage: true } }) };
}

interface Sending {
  readonly body: string;
  readonly key: string;
  readonly dialect: ModelDialect;
  readonly signal: AbortSignal;
}

function send({ url, stream }: ModelTarget, { body, key, dialect, signal }: Sending): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: stream ? 'text/event-stream, application/json' : 'application/json',
      ...dialect.headers(key),
    },
    body,
    // The key must not follow a redirect.
    redirect: 'manual',
    signal,
  });
}

interface Reading {
  readonly place: string;
  readonly conceal: (text: string) => string;
  readonly silence: Silence;
  readonly onWords?: ((words: string) => void) | undefined;
}

async function readReply(
  response: Response,
  { dialect, ...reading }: Reading & { readonly dialect: ModelDialect },
): Promise<ModelReply> {
  const type = response.headers.get('content-type') ?? '';
  const reply = /^text\/event-stream\b/i.test(type)
    ? await readStream(response, dialect, reading)
    : tryParseObject(await readText(response, MAX_REPLY_BYTES, reading));
  if (reply === undefined)
    throw new ModelError(
      'unreadable',
      `${reading.place} sent ${cleanLine(type, 60) || 'something'} that is not a reply.`,
      {
        isFinal: true,
      },
    );
  return dialect.read(reply);
}

async function readStream(
  response: Response,
  dialect: ModelDialect,
  { place, silence, onWords }: Reading,
): Promise<JsonObject> {
  const reader = new EventStreamReader({ maxBytes: MAX_REPLY_BYTES });
  const assembler = dialect.assemble();
  for await (const chunk of chunksOf(response, MAX_REPLY_BYTES, { place, silence }))
    for (const { data } of reader.push(chunk)) {
      const event = tryParseObject(data);
      // `[DONE]`, and whatever a later version of an API adds.
      if (event === undefined) continue;
      assembler.add(event);
      const words = onWords === undefined ? '' : dialect.words(event);
      if (words !== '') onWords?.(words);
    }
  const whole = assembler.whole();
  if (whole === undefined) throw new ModelError('broken', `${place} ended its reply in the middle.`);
  return whole;
}

async function readText(
  response: Response,
  maxBytes: number,
  reading: Pick<Reading, 'place' | 'silence'>,
): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of chunksOf(response, maxBytes, reading))
    text += decoder.decode(chunk, { stream: true });
  return text + decoder.decode();
}

async function* chunksOf(
  response: Response,
  maxBytes: number,
  { place, silence }: Pick<Reading, 'place' | 'silence'>,
): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  const reader = response.body?.getReader();
  if (reader === undefined) return;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      silence.heard();
      bytes += value.length;
      if (bytes > maxBytes)
        throw new ModelError('unreadable', `${place} sent more than ${maxBytes} bytes.`, { isFinal: true });
      yield value;
    }
  } finally {
    // A reply that was not read to its end keeps no connection.
    void reader.cancel().catch(() => undefined);
  }
}

const REPEATABLE: ReadonlySet<number> = new Set([408, 409, 429]);
/** Codes of 429 that waiting does not change. */
const WITHOUT_CREDIT: ReadonlySet<string> = new Set(['insufficient_quota', 'billing_error']);

async function refusal(response: Response, reading: Reading): Promise<ModelError> {
  const { status, headers } = response;
  const { place, conceal } = reading;
  if (status >= 300 && status < 400) {
    void response.body?.cancel().catch(() => undefined);
    return new ModelError('refused', `${place} redirects to another address, where the key is not sent.`, {
      status,
      isFinal: true,
    });
  }
  const text = await readText(response, MAX_ERROR_BYTES, reading).catch(() => '');
  const error = tryParseObject(text)?.['error'];
  const { message, code, type } = isObject(error) ? error : { message: error };
  const why = conceal(stringOf(message));
  const isBusy = REPEATABLE.has(status) || status >= 500;
  const isFinal = !isBusy || WITHOUT_CREDIT.has(stringOf(code)) || WITHOUT_CREDIT.has(stringOf(type));
  return new ModelError(
    isFinal ? 'refused' : 'busy',
    `${place} answered ${status}${why === '' ? '' : `: ${why}`}${/[.!?]$/.test(why) ? '' : '.'}`,
    { status, isFinal, retryAfterMs: retryAfterIn(headers) },
  );
}

function retryAfterIn(headers: Headers): number | undefined {
  const ms = headers.get('retry-after-ms') ?? '';
  return /^\d{1,9}$/.test(ms) ? Number(ms) : readRetryAfter(headers.get('retry-after') ?? undefined);
}

interface Failing {
  readonly place: string;
  readonly silence: AbortSignal;
  readonly conceal: (text: string) => string;
}

/** Anything that was thrown, as an error of the model, or as the reason of the caller's signal. */
function asModelError(error: unknown, { place, silence, conceal }: Failing): unknown {
  if (error instanceof ModelError) return error;
  if (silence.aborted) return silence.reason;
  if (error instanceof EventTooLarge)
    return new ModelError('unreadable', `${place} sent an event that is too large.`, { isFinal: true });
  const { cause, message } = error as { cause?: unknown; message?: unknown };
  const code = isObject(cause) ? stringOf(cause['code']) : '';
  const isUnsent = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN'].includes(code);
  return isUnsent
    ? new ModelError('unreachable', `${place} cannot be reached (${code}).`)
    : new ModelError('broken', `${place} broke the connection (${code || conceal(String(message))}).`);
}

/** Ends a request when nothing has come for too long. */
class Silence {
  readonly #own = new AbortController();
  readonly #ms: number;
  readonly #place: string;
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly signal: AbortSignal;

  constructor(ms: number, place: string, outer: AbortSignal) {
    this.#ms = ms;
    this.#place = place;
    this.signal = AbortSignal.any([this.#own.signal, outer]);
    this.heard();
  }

  heard(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(
      () => this.#own.abort(new ModelError('silent', `${this.#place} sent nothing for ${this.#ms} ms.`)),
      this.#ms,
    );
  }

  end(): void {
    clearTimeout(this.#timer);
  }
}
