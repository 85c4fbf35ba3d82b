// The server of the tests of events: a ticket desk, served over HTTP.

import { type Bus, createServer, event, type Store } from 'fullmcp';
import { serve } from 'fullmcp/node';
import { z } from 'zod';
import type { Events } from '../../support/http/http.js';
import { type ModernOptions, modern, modernStream } from '../../support/http/modern.js';

const ticket = z.object({ id: z.string(), queue: z.string().optional() });

export const definitions = {
  ticket_changed: event({
    description: 'A ticket changed',
    input: z.object({ queue: z.string().optional() }),
    payload: ticket,
    match: (data, { queue }) => queue === undefined || data.queue === queue,
  }),
  pushed: event({ description: 'Only pushed', payload: ticket, delivery: ['push'] }),
  polled: event({ description: 'Only polled', payload: ticket, delivery: ['poll'], meta: { 'acme/x': 1 } }),
};

export interface DeskOptions {
  readonly store?: Store;
  readonly bus?: Bus;
  readonly pageSize?: number;
  readonly changes?: true | readonly ['events'];
  readonly use?: NonNullable<Parameters<typeof createServer>[0]['use']>;
}

/** Makes the desk. */
export function makeDesk(options: DeskOptions = {}) {
  return createServer({
    name: 'desk',
    version: '1',
    logger: () => undefined,
    events: definitions,
    ...options,
  });
}

export type Desk = ReturnType<typeof makeDesk>;

/** The desk on a port of its own, with the requests that the tests send. */
export interface ServedDesk {
  readonly server: Desk;
  readonly url: string;
  /** Sends a request of 2026-07-28. Returns the response. */
  readonly ask: (method: string, params?: object, options?: ModernOptions) => Promise<Response>;
  /** Polls, and returns the result. */
  readonly poll: (params: object) => Promise<PollResult>;
  readonly stream: (params: object, options?: ModernOptions) => Promise<Stream>;
  readonly close: () => Promise<void>;
}

interface Response {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: a test looks wherever it wants
  readonly result: any;
  readonly error: { readonly code: number; readonly message: string; readonly data?: unknown } | undefined;
}

interface PollResult {
  readonly events: readonly { readonly eventId: string; readonly data: { readonly id: string } }[];
  readonly cursor: string;
  readonly truncated: boolean;
  readonly hasMore: boolean;
  readonly nextPollMs: number;
}

/** A message of a stream. */
export interface Streamed {
  readonly method?: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test looks wherever it wants
  readonly params?: any;
  // biome-ignore lint/suspicious/noExplicitAny: a test looks wherever it wants
  readonly result?: any;
  // biome-ignore lint/suspicious/noExplicitAny: a test looks wherever it wants
  readonly error?: any;
}

export interface Stream {
  readonly status: number;
  /** The next message; undefined at the end. */
  readonly next: () => Promise<Streamed | undefined>;
  readonly drop: () => void;
}

/** Reads the messages of an event stream. */
export function messagesOf({ status, next, drop }: Events): Stream {
  return {
    status,
    drop,
    async next() {
      for (;;) {
        const one = await next();
        if (one === undefined) return undefined;
        // A stream of a session begins with an event that only has an id.
        if (one.data !== '') return JSON.parse(one.data) as Streamed;
      }
    },
  };
}

/** Serves a desk. */
export async function serveDesk(
  options: DeskOptions = {},
  made: Desk = makeDesk(options),
): Promise<ServedDesk> {
  const served = await serve(made, { port: 0, signals: false });
  const url = String(served.url);
  const ask: ServedDesk['ask'] = async (method, params = {}, more) => {
    const { status, text } = await modern(url, method, params as Record<string, unknown>, more);
    const { result, error } = JSON.parse(text) as Response;
    return { status, result, error };
  };
  return {
    server: made,
    url,
    ask,
    poll: async (params) => {
      const { result, error } = await ask('events/poll', params);
      if (error !== undefined) throw new Error(error.message);
      return result as PollResult;
    },
    stream: async (params, more) =>
      messagesOf(await modernStream(url, 'events/stream', params as Record<string, unknown>, more)),
    close: () => served.close(),
  };
}
