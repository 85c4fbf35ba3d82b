// One HTTP request of a client, served by the endpoint of a replica.

import type { Actor } from '../world/scheduler.js';
import type { World } from '../world/world.js';
import { Pipe } from './pipe.js';
import type { Replica } from './replica.js';

/** An event of an event stream. */
export interface StreamEvent {
  readonly id?: string;
  readonly data: string;
}

/** An HTTP request of a client. */
export interface HttpRequest {
  readonly method: 'POST' | 'GET' | 'DELETE';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** The caller; undefined if it is anonymous. */
  readonly subject: string | undefined;
  readonly timeoutMs: number;
  /** Called with the replica that gets the request. */
  readonly onSent?: (replica: Actor) => void;
  readonly onEvent?: (event: StreamEvent) => void;
}

/** The end of an HTTP request. A reply that is a stream has no body. */
export type HttpReply =
  | {
      readonly status: number;
      readonly headers: Readonly<Record<string, string>>;
      readonly body: string | undefined;
    }
  | { readonly lost: string };

interface HttpExchangeParts {
  readonly client: Actor;
  readonly replica: Replica;
  readonly request: HttpRequest;
  readonly id: number;
}

type Incoming = Parameters<Replica['endpoint']['handle']>[0];
type Outlet = ReturnType<Incoming['stream']>;

const HEADERS: Readonly<Record<string, string>> = {
  host: 'localhost',
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
};

/** One HTTP request over a connection of its own: what the endpoint sees of a runtime's request. */
export class HttpExchange implements Incoming {
  readonly path = '/mcp';
  readonly query = '';
  readonly secure = false;
  readonly local = true;
  readonly remoteAddress = undefined;
  readonly method: string;
  /** The caller, which the server's `auth` reads. */
  readonly raw: { readonly subject: string | undefined };
  auth: Incoming['auth'];
  protection: Incoming['protection'];
  readonly #world: World;
  readonly #parts: HttpExchangeParts;
  readonly #pipe: Pipe;
  #goneListeners: (() => void)[] = [];
  #resolve!: (reply: HttpReply) => void;

  constructor(world: World, parts: HttpExchangeParts) {
    this.#world = world;
    this.#parts = parts;
    this.method = parts.request.method;
    this.raw = { subject: parts.request.subject };
    this.#pipe = new Pipe(world, parts, {
      serve: () => parts.replica.endpoint.handle(this, () => undefined),
      gone: () => this.#onGone(),
      lost: (lost) => {
        world.note(() => `request ${parts.id} ${lost}`);
        this.#resolve({ lost });
      },
    });
  }

  run(resolve: (reply: HttpReply) => void): void {
    this.#resolve = resolve;
    const { replica, request, id } = this.#parts;
    request.onSent?.(replica.actor);
    this.#world.note(
      () =>
        `request ${id} to ${replica.actor.name}: ${request.method} ${request.headers['last-event-id'] ?? ''} ${request.body ?? ''}`,
    );
    this.#pipe.open(request.timeoutMs);
  }

  header(name: string): string | undefined {
    return this.#parts.request.headers[name] ?? HEADERS[name];
  }

  headerFields(): Iterable<readonly [string, string]> {
    return Object.entries({ ...HEADERS, ...this.#parts.request.headers });
  }

  async respond(response: Response): Promise<void> {
    this.reply(response.status, Object.fromEntries(response.headers), await response.text());
  }

  read(_limits: unknown, receiver: { receiveBody(text: string): void }): void {
    receiver.receiveBody(this.#parts.request.body ?? '');
  }

  reply(status: number, headers: Readonly<Record<string, string>>, body?: string): void {
    this.#goneListeners = [];
    this.#pipe.toClient(() => this.#end(status, headers, body));
  }

  stream(status: number, headers: Readonly<Record<string, string>>): Outlet {
    const { request, id } = this.#parts;
    return {
      write: (text) => {
        const event = readEvent(text);
        if (event === undefined) return;
        if (this.#world.fails(this.#world.settings.losses.stream)) return this.#pipe.break();
        this.#pipe.toClient(() => {
          this.#world.note(() => `event ${id}: ${event.id ?? '-'} ${event.data}`);
          request.onEvent?.(event);
        });
      },
      end: () => {
        this.#goneListeners = [];
        this.#pipe.toClient(() => this.#end(status, headers, undefined));
      },
      destroy: () => this.#pipe.break(),
      buffered: () => 0,
    };
  }

  onGone(listener: () => void): void {
    this.#goneListeners.push(listener);
  }

  #onGone(): void {
    const listeners = this.#goneListeners;
    this.#goneListeners = [];
    for (const listener of listeners) listener();
  }

  #end(status: number, headers: Readonly<Record<string, string>>, body: string | undefined): void {
    this.#pipe.end();
    this.#world.note(() => `reply ${this.#parts.id}: ${status} ${body ?? ''}`);
    this.#resolve({ status, headers, body });
  }
}

const FIELD = /^(id|data): (.*)$/gm;

/** Reads one event; undefined for a comment. */
function readEvent(text: string): StreamEvent | undefined {
  const fields = Object.fromEntries([...text.matchAll(FIELD)].map(([, name, value]) => [name, value]));
  return fields['data'] === undefined ? undefined : (fields as unknown as StreamEvent);
}
