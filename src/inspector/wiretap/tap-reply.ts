// Taps a reply of HTTP: its head, and the messages in its body as they arrive.

import { STATUS_CODES } from 'node:http';
import { EventStreamReader, EventTooLarge } from '../../jsonrpc/event-stream.js';
import type { HttpReply } from '../../transports/http/client/carrier.js';
import type { TappedChannel } from './channel.js';
import { maskHeaders } from './mask.js';
import type { HttpExchange, Scope } from './seen.js';
import type { EndStep } from './steps.js';

export interface TapReplyParts {
  readonly channel: TappedChannel;
  readonly exchange: HttpExchange;
  /** The scope of the request. */
  readonly scope: Scope;
  readonly end: EndStep;
}

const MAX_HEADERS = 100;
/** A larger event is not read along: the client may still read it. */
const MAX_EVENT = 64 * 1024 * 1024;

export function tapReply(reply: HttpReply, { channel, exchange, scope, end }: TapReplyParts): HttpReply {
  exchange.status = reply.status;
  exchange.responseHeaders = headersOf(reply);
  // Spec 2025-11-25, Streamable HTTP: a server without a stream of its own answers 405.
  const hasNoStream = exchange.method === 'GET' && reply.status === 405;
  const words = `${reply.status} ${STATUS_CODES[reply.status] ?? ''}`.trim();
  if (hasNoStream) end('ok', `${words}: the server has no stream of its own, which is allowed`);
  else end(reply.status < 400 ? 'ok' : 'failed', words);
  channel.replied(scope, exchange);
  const type = reply.header('content-type') ?? '';
  const isStream = type.startsWith('text/event-stream');
  const arrival = { http: exchange, with: scope };
  let reader = isStream ? new EventStreamReader({ maxBytes: MAX_EVENT }) : undefined;

  function readAlong(chunk: Uint8Array): void {
    if (reader === undefined) return;
    try {
      for (const { event, data } of reader.push(chunk))
        if (event === 'message' && data !== '') channel.received(data, arrival);
    } catch (error) {
      if (!(error instanceof EventTooLarge)) throw error;
      reader = undefined;
    }
  }

  return {
    status: reply.status,
    url: reply.url,
    opaque: reply.opaque,
    hidesHeaders: reply.hidesHeaders,
    header: (name) => reply.header(name),
    cancel: () => reply.cancel(),
    async text(maxBytes) {
      const text = await reply.text(maxBytes);
      if (text !== undefined && /^\s{0,20}[[{]/.test(text)) channel.received(text, arrival);
      return text;
    },
    async read() {
      const chunk = await reply.read();
      // The client may keep the chunk, but does not change it.
      if (chunk !== undefined) readAlong(chunk);
      return chunk;
    },
  };
}

function headersOf(reply: HttpReply): Readonly<Record<string, string>> {
  const names = reply.headerNames?.() ?? ['content-type', 'www-authenticate', 'mcp-session-id'];
  return maskHeaders(
    Object.fromEntries(
      names.slice(0, MAX_HEADERS).flatMap((name) => {
        const value = reply.header(name);
        return value === undefined ? [] : [[name, value.slice(0, 2000)]];
      }),
    ),
  );
}
