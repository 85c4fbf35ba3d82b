import type { JsonObject } from '../../../src/jsonrpc/message.js';
import type { McpError } from '../../../src/protocol/errors.js';
import type { Exchange, ExchangeEvents, OutgoingRequest } from '../../../src/transports/client/exchange.js';
import type { Wire, WireEvents } from '../../../src/transports/client/wire.js';
import { wireExchange } from '../../../src/transports/client/wire-exchange.js';

export interface MemoryWire extends Wire {
  readonly sent: JsonObject[];
  /** Lets a message arrive; a string arrives unchanged. */
  readonly arrive: (...messages: unknown[]) => void;
  readonly lose: (reason: McpError) => void;
  readonly closes: () => number;
}

/** A wire whose other end is the test. */
export function memoryWire(): MemoryWire {
  const sent: JsonObject[] = [];
  let events: WireEvents | undefined;
  let closes = 0;
  return {
    sent,
    send: (text) => void sent.push(JSON.parse(text) as JsonObject),
    start(listener) {
      if (events !== undefined) throw new Error('started twice');
      events = listener;
    },
    async close() {
      closes++;
    },
    arrive(...messages) {
      for (const message of messages) {
        events?.message(typeof message === 'string' ? message : JSON.stringify(message));
      }
    },
    lose: (reason) => events?.closed(reason),
    closes: () => closes,
  };
}

export interface RecordedExchange extends ExchangeEvents {
  readonly problems: { readonly message: string; readonly cause: unknown }[];
  readonly notifications: [method: string, params: JsonObject | undefined][];
  readonly ends: McpError[];
}

/** Records the events of an exchange. */
export function exchangeEvents(request?: ExchangeEvents['request']): RecordedExchange {
  const problems: { message: string; cause: unknown }[] = [];
  const notifications: [string, JsonObject | undefined][] = [];
  const ends: McpError[] = [];
  return {
    problems,
    notifications,
    ends,
    request: request ?? (() => Promise.reject(new Error('not asked for'))),
    notification: (method, params) => void notifications.push([method, params]),
    problem: (message, cause) => void problems.push({ message, cause }),
    closed: (reason) => void ends.push(reason),
  };
}

export interface ExchangeSetup {
  readonly wire: MemoryWire;
  readonly exchange: Exchange;
  readonly events: RecordedExchange;
  readonly ask: (method: string, rest?: Partial<OutgoingRequest>) => Promise<JsonObject>;
}

/** An exchange on a wire whose other end is the test. */
export function exchangeOnMemory(request?: ExchangeEvents['request']): ExchangeSetup {
  const wire = memoryWire();
  const exchange = wireExchange(wire);
  const events = exchangeEvents(request);
  exchange.listen(events);
  const { signal } = new AbortController();
  return { wire, exchange, events, ask: (method, rest) => exchange.request({ method, signal, ...rest }) };
}

export function result(id: unknown, value: unknown = { ok: true }): object {
  return { jsonrpc: '2.0', id, result: value };
}

export function note(method: string, params?: object): object {
  return { jsonrpc: '2.0', method, params };
}

/** Resolves when all consequences of past events have happened. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
