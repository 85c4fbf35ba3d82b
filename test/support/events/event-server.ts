import type { ServerResponse } from 'node:http';
import {
  error,
  json,
  type Received,
  result,
  type ScriptedServer,
  scriptedServer,
  stream,
} from '../http/http-server.js';

// A server of 2026-07-28 with events that does what a test says, on the wire: also what no server should do.

export type Answer = (request: Received, response: ServerResponse) => void;

export interface EventScript {
  /** Where the server declares events. Default: only as an extension, like the official scenarios. */
  readonly capabilities?: object;
  /** The entries of `events/list`, or the function that answers it. */
  readonly events?: readonly object[] | Answer;
  /** Answers `events/stream`, `events/poll` and so on, by the last word of the method. */
  readonly answers?: Readonly<Record<string, Answer>>;
}

export interface EventServer extends ScriptedServer {
  /** The requests of a method of events, by its last word. */
  readonly requests: (word: string) => readonly Received[];
}

const asExtension = { extensions: { 'io.modelcontextprotocol/events': {} } };

export async function eventServer({
  capabilities = asExtension,
  events = [],
  answers = {},
}: EventScript): Promise<EventServer> {
  const server = await scriptedServer((request, response) => {
    const method = request.body?.method ?? '';
    if (method === 'server/discover')
      return json(response, result(request, { supportedVersions: ['2026-07-28'], capabilities }));
    if (method === 'events/list') {
      if (typeof events === 'function') return events(request, response);
      return json(response, result(request, { events }));
    }
    const answer = answers[method.replace('events/', '')];
    if (answer !== undefined) return answer(request, response);
    json(response, error(request, -32601, 'no such method'), 404);
  });
  return Object.assign(server, {
    requests: (word: string) => server.received.filter(({ body }) => body?.method === `events/${word}`),
  });
}

/** A stream of events that a test speaks on. */
export interface Speaker {
  /** Sends a notification of the stream. */
  readonly say: (word: string, params?: object) => void;
  /** Ends the stream with the response of its request. */
  readonly end: () => void;
  /** Breaks the connection. */
  readonly drop: () => void;
}

/** Opens the stream that a request asked for. */
export function speaker(request: Received, response: ServerResponse): Speaker {
  const { say } = stream(response);
  const id = request.body?.id;
  const _meta = { 'io.modelcontextprotocol/subscriptionId': id };
  return {
    say: (word, params = {}) =>
      say({ jsonrpc: '2.0', method: `notifications/events/${word}`, params: { _meta, ...params } }),
    end() {
      say({ jsonrpc: '2.0', id, result: { resultType: 'complete', _meta } });
      response.end();
    },
    drop: () => response.destroy(),
  };
}

/** An event as it is on the wire. */
export function occurrence(eventId: string, more: object = {}): Record<string, unknown> {
  return { eventId, name: 'tick', timestamp: '2026-10-26T07:33:19Z', data: { id: eventId }, ...more };
}

/** A type of events in a list. */
export function listed(name: string, ...delivery: string[]): object {
  return { name, description: name, delivery, inputSchema: { type: 'object' } };
}

/** Answers to `events/poll`, one after the other; the last one again and again. */
export function polls(...pages: readonly object[]): Answer {
  let at = 0;
  return (request, response) => {
    const page = pages[Math.min(at++, pages.length - 1)] as object;
    json(response, result(request, { events: [], ...page }));
  };
}
