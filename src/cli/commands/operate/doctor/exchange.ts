// One HTTP request of the examination. Its reply is bounded in time and size, and redirects are not followed.

import type { Buffer } from 'node:buffer';
import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP } from 'node:net';
import type { SecureContextOptions } from 'node:tls';
import { hostOf } from '../../../../adapters/node/client/proxy.js';
import { EventStreamReader } from '../../../../jsonrpc/event-stream.js';

/** The server that is examined. */
export interface Examination {
  readonly url: URL;
  /** The headers that the user gave, with the token. */
  readonly headers: Readonly<Record<string, string>>;
  /** The authorities and the certificate that the user configured for this server. */
  readonly tls: Pick<SecureContextOptions, 'ca' | 'cert' | 'key'>;
  /** The longest time of one request. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

export interface Request {
  readonly method: 'GET' | 'POST' | 'DELETE' | 'OPTIONS';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** The longest time of this request, if it is shorter. */
  readonly timeoutMs?: number;
  /** Ends the reading of an event stream early. */
  readonly isEnough?: (eventData: string) => boolean;
  /** Whether the body is not read at all. */
  readonly headersOnly?: boolean;
}

export interface ExaminedReply {
  readonly status: number;
  /** A header, with several of one name joined by commas. */
  readonly header: (name: string) => string | undefined;
  /** The body, or the beginning of it. */
  readonly body: string;
  /** The data of the events, if it is an event stream. */
  readonly events: readonly string[];
  /** Until the headers were there. */
  readonly headersMs: number;
  /** Until the first event was there; undefined if none came. */
  readonly firstEventMs: number | undefined;
}

const MAX_HEADER_BYTES = 64 * 1024;
const MAX_BODY_BYTES = 1024 * 1024;
const MAX_EVENTS = 100;

/** Sends a request. Throws if there are no headers in time; a body that does not end in time is cut. */
export function send(at: Examination, request: Request): Promise<ExaminedReply> {
  const { url, tls, signal } = at;
  const timeoutMs = Math.min(at.timeoutMs, request.timeoutMs ?? at.timeoutMs);
  const make = url.protocol === 'https:' ? requestHttps : requestHttp;
  const { method, headers, body, isEnough, headersOnly = false } = request;
  return new Promise((resolve, reject) => {
    const start = performance.now();
    const host = hostOf(url);
    // Without this, the name for TLS would be that of a Host header.
    const servername = isIP(host) === 0 ? host : '';
    const limits = { agent: false, signal, maxHeaderSize: MAX_HEADER_BYTES };
    const sent = make(url, { method, headers, ...limits, servername, ...tls });
    const timer = setTimeout(() => sent.destroy(new Error(`no reply within ${timeoutMs} ms`)), timeoutMs);
    sent.once('error', (error) => {
      clearTimeout(timer);
      reject(error);
    });
    sent.once('response', (response) => {
      clearTimeout(timer);
      const spent = performance.now() - start;
      const reading = { start, timeoutMs: headersOnly ? 0 : Math.max(1, timeoutMs - spent), isEnough };
      // After the headers, nothing that happens is a failure of the request.
      sent.on('error', () => undefined);
      void read(response, reading).then((rest) => {
        sent.destroy();
        const header = (name: string): string | undefined => response.headers[name]?.toString();
        resolve({ status: response.statusCode ?? 0, header, headersMs: spent, ...rest });
      });
    });
    sent.end(body);
  });
}

interface Reading {
  readonly start: number;
  readonly timeoutMs: number;
  readonly isEnough: Request['isEnough'];
}

function read(
  response: IncomingMessage,
  { start, timeoutMs, isEnough = () => false }: Reading,
): Promise<Pick<ExaminedReply, 'body' | 'events' | 'firstEventMs'>> {
  const chunks: Buffer[] = [];
  const events: string[] = [];
  const reader = isEventStream(response.headers['content-type'])
    ? new EventStreamReader({ maxBytes: MAX_BODY_BYTES })
    : undefined;
  let [bytes, firstEventMs] = [0, undefined as number | undefined];
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      response.removeAllListeners('data');
      const body = new TextDecoder().decode(concat(chunks).subarray(0, MAX_BODY_BYTES));
      resolve({ body, events, firstEventMs });
    };
    const timer = setTimeout(end, timeoutMs);
    response.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      chunks.push(chunk);
      for (const data of eventsOf(reader, chunk)) {
        firstEventMs ??= performance.now() - start;
        events.push(data);
        if (isEnough(data)) return end();
      }
      if (bytes >= MAX_BODY_BYTES || events.length >= MAX_EVENTS) end();
    });
    for (const last of ['end', 'close', 'error'] as const) response.once(last, end);
    response.on('error', () => undefined);
  });
}

function eventsOf(reader: EventStreamReader | undefined, chunk: Uint8Array): readonly string[] {
  try {
    return reader === undefined ? [] : [...reader.push(chunk)].map(({ data }) => data);
  } catch {
    // An event that is too large ends at the limit of the body.
    return [];
  }
}

function concat(chunks: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(chunks.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}

/** Whether a content type is that of an event stream. */
export function isEventStream(contentType: string | undefined): boolean {
  return mediaTypeOf(contentType) === 'text/event-stream';
}

/** The content type without its parameters. */
export function mediaTypeOf(contentType: string | undefined): string {
  return (contentType ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
}
