// The client's side of a session of 2025-11-25.

import type { HttpReply, HttpRequest } from '../../cluster/http-exchange.js';
import type { Client } from '../client.js';

const AGAIN_MS = 300;
const SESSION = 'mcp-session-id';

/** The parts of a request that callers choose. */
type RequestOptions = Partial<Pick<HttpRequest, 'timeoutMs' | 'onEvent' | 'onSent'>>;

/** An HTTP reply that has arrived. */
export type Arrived = Exclude<HttpReply, { readonly lost: string }>;

/** A session of a client. */
export class Session {
  readonly client: Client;
  readonly id: string;
  /** Whether the client has begun to end the session. */
  isEnding = false;
  /** Whether the server has confirmed that the session has ended. */
  hasEnded = false;
  /** The log level, and since when it is known to be set. */
  level: { readonly name: string; readonly since: number } | undefined;
  #requests = 0;

  private constructor(client: Client, id: string) {
    this.client = client;
    this.id = id;
  }

  /** Opens a session, however often that has to be tried. */
  static async open(client: Client): Promise<Session> {
    const params = {
      protocolVersion: '2025-11-25',
      capabilities: { elicitation: {} },
      clientInfo: { name: 'simulated', version: '1.0.0' },
    };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params });
    for (;;) {
      const reply = await client.fetch({ method: 'POST', headers: {}, body });
      const id = 'status' in reply ? reply.headers[SESSION] : undefined;
      if (id !== undefined) {
        client.ledger.calls.secrets.push({ kind: 'session', id });
        return new Session(client, id);
      }
      await pauseBeforeRetry(client);
    }
  }

  nextId(): number {
    return ++this.#requests;
  }

  post(message: object, options: RequestOptions = {}): Promise<HttpReply> {
    const body = JSON.stringify({ jsonrpc: '2.0', ...message });
    return this.#fetch({ method: 'POST', headers: { [SESSION]: this.id }, body, ...options });
  }

  /** Opens the stream of the session, or the rest of one that was lost. */
  get(lastEventId: string | undefined, options: RequestOptions): Promise<HttpReply> {
    const resumed = lastEventId === undefined ? {} : { 'last-event-id': lastEventId };
    const headers = { [SESSION]: this.id, accept: 'text/event-stream', ...resumed };
    return this.#fetch({ method: 'GET', headers, timeoutMs: FOREVER_MS, ...options });
  }

  /** Sends a message until there is a reply that is not a failure of the server. */
  async deliver(message: object): Promise<Arrived> {
    for (;;) {
      const reply = await this.post(message);
      if ('status' in reply && reply.status < 500 && !hasFailed(reply)) return reply;
      await pauseBeforeRetry(this.client);
    }
  }

  /** Ends the session, however often that has to be tried. */
  async end(): Promise<void> {
    this.isEnding = true;
    for (;;) {
      const reply = await this.#fetch({ method: 'DELETE', headers: { [SESSION]: this.id } });
      // The reply to an earlier attempt was lost.
      if ('status' in reply && (reply.status === 200 || reply.status === 404)) break;
      await pauseBeforeRetry(this.client);
    }
    this.hasEnded = true;
  }

  async #fetch(request: Pick<HttpRequest, 'method' | 'headers'> & Partial<HttpRequest>): Promise<HttpReply> {
    const { client } = this;
    const reply = await client.fetch(request);
    if ('status' in reply && reply.status === 404 && !this.isEnding && isUnknownSession(reply))
      client.ledger.violate('session lost', `${client.actor.name}: ${request.method}`);
    return reply;
  }
}

const FOREVER_MS = 100_000_000;

/** Waits before a request is repeated. */
export function pauseBeforeRetry({ world }: Client): Promise<void> {
  return world.sleep(AGAIN_MS * world.random.between(0.5, 3));
}

function isUnknownSession({ body = '' }: Arrived): boolean {
  return body.includes('session is unknown');
}

/**
 * Whether the server could not do what was requested because something else failed, because it is shutting down, or because it is
 * still busy with an earlier attempt.
 */
function hasFailed({ body = '' }: Arrived): boolean {
  return body.includes('"code":-32603') || body.includes('this id is already open');
}
