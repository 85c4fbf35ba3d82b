// Taps the carrier of HTTP: requests, replies and the messages in their bodies.

import { isObject } from '../../jsonrpc/message.js';
import { bareUrl } from '../../protocol/secrets/url.js';
import type { CarrierRequest, HttpCarrier } from '../../transports/http/client/carrier.js';
import type { TappedChannel } from './channel.js';
import { MASK, maskHeaders } from './mask.js';
import type { HttpExchange } from './seen.js';
import type { ConnectSteps } from './steps.js';
import { tapReply } from './tap-reply.js';

/** A carrier that reports what it carries. The reply is read by the client alone; what it reads is read along. */
export function tapCarrier(carrier: HttpCarrier, channel: TappedChannel, steps: ConnectSteps): HttpCarrier {
  return {
    async send(request) {
      const exchange = exchangeOf(request);
      const { scope } = channel;
      const end = steps.begin(describe(request));
      if (request.body !== undefined) channel.sent(request.body, exchange);
      try {
        const reply = await carrier.send(request);
        return tapReply(reply, { channel, exchange, scope, end });
      } catch (error) {
        end('failed', error instanceof Error ? error.message : String(error));
        throw error;
      }
    },
    close: () => carrier.close(),
  };
}

function exchangeOf({ method, url, commonHeaders, headers }: CarrierRequest): HttpExchange {
  return {
    method,
    url: bareUrl(url.href, MASK),
    requestHeaders: maskHeaders({ ...commonHeaders, ...headers }),
  };
}

/** As in `POST /mcp server/discover`. */
function describe({ method, url, body }: CarrierRequest): string {
  const request = `${method} ${url.pathname}`;
  if (body === undefined) return method === 'GET' ? `${request} event stream` : request;
  const called = methodIn(body);
  return called === undefined ? request : `${request} ${called}`;
}

function methodIn(body: string): string | undefined {
  if (body.length > 100_000) return undefined;
  try {
    const value: unknown = JSON.parse(body);
    const { method } = isObject(value) ? value : {};
    return typeof method === 'string' ? method.slice(0, 100) : undefined;
  } catch {
    return undefined;
  }
}
