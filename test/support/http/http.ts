import { type Agent, type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import { EventStreamReader, type StreamEvent } from '../../../src/jsonrpc/event-stream.js';
import { soon } from '../until.js';

// Raw HTTP, so that a test can send what no client would: any Host, a length that lies, half a body.

export interface Exchange {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly body?: string | Buffer;
  /** Sends the body in chunks, without a length. */
  readonly chunked?: boolean;
  readonly agent?: Agent;
}

export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** Sends one request and reads the whole reply. */
export async function send(url: string, exchange: Exchange = {}): Promise<Reply> {
  const response = await begin(url, exchange);
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    text: Buffer.concat(chunks).toString('utf8'),
  };
}

function begin(url: string, exchange: Exchange): Promise<IncomingMessage> {
  const { method = 'POST', headers = {}, body, chunked = false, agent } = exchange;
  return new Promise((resolve, reject) => {
    const req = request(url, {
      method,
      agent: agent ?? false,
      headers: {
        ...defined(headers),
        ...(body !== undefined && !chunked && { 'content-length': Buffer.byteLength(body) }),
      },
    });
    req.on('response', resolve).on('error', reject);
    if (chunked && body !== undefined) for (const piece of pieces(body)) req.write(piece);
    req.end(chunked ? undefined : body);
  });
}

function* pieces(body: string | Buffer): Generator<Buffer> {
  const bytes = Buffer.from(body);
  for (let at = 0; at < bytes.length; at += 65_536) yield bytes.subarray(at, at + 65_536);
}

function defined(headers: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== undefined)) as Record<
    string,
    string
  >;
}

/** An event stream that is read event by event. */
export interface Events {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The next event, or undefined when the stream has ended. */
  readonly next: () => Promise<StreamEvent | undefined>;
  /** All remaining events. */
  readonly rest: () => Promise<StreamEvent[]>;
  /** Breaks the connection. */
  readonly drop: () => void;
}

export async function openEvents(url: string, exchange: Exchange): Promise<Events> {
  const response = await begin(url, exchange);
  const reader = new EventStreamReader({ maxBytes: 64 * 1024 * 1024 });
  const events = read();

  async function* read(): AsyncGenerator<StreamEvent> {
    try {
      for await (const chunk of response) yield* reader.push(chunk as Buffer);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ECONNRESET') throw error;
    }
  }

  async function next(): Promise<StreamEvent | undefined> {
    const { done, value } = await soon('The next event', events.next());
    return done ? undefined : (value as StreamEvent);
  }

  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    next,
    async rest() {
      const all: StreamEvent[] = [];
      for (let event = await next(); event !== undefined; event = await next()) all.push(event);
      return all;
    },
    drop: () => response.destroy(),
  };
}
