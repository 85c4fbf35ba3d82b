// The network between clients and replicas.

import { type Auth, type Call, McpError, type Outcome, type Peer } from 'fullmcp';
import type { Actor } from '../world/scheduler.js';
import type { World } from '../world/world.js';
import type { SimulatedCluster } from './cluster.js';
import { HttpExchange, type HttpReply, type HttpRequest } from './http-exchange.js';
import { Pipe } from './pipe.js';
import type { Replica } from './replica.js';

/** A request of a client. */
export interface Request {
  readonly method: string;
  readonly params: Record<string, unknown>;
  /** The caller; undefined if it is anonymous. */
  readonly subject: string | undefined;
  /** The time after which the client gives up. */
  readonly timeoutMs: number;
  readonly onNotification?: (method: string, params: Record<string, unknown>) => void;
  /** Called with the replica that gets the request. */
  readonly onSent?: (replica: Actor) => void;
}

/** A failure that the server reported. */
interface Failure {
  readonly code: string;
  readonly message: string;
  readonly data: unknown;
}

/** The end of a request: its outcome, an error, or nothing that the client can know. */
export type Reply =
  | { readonly outcome: Record<string, unknown> }
  | { readonly failure: Failure }
  | { readonly lost: string };

const peer: Peer = {
  revision: '2026-07-28',
  client: { name: 'simulated', version: '1.0.0' },
  capabilities: { elicitation: {}, extensions: { 'io.modelcontextprotocol/tasks': {} } },
  logLevel: undefined,
};

/** Carries requests to the replicas, in turns, and their replies back. */
export class Network {
  readonly #world: World;
  readonly #cluster: SimulatedCluster;
  #ids = 0;

  constructor(world: World, cluster: SimulatedCluster) {
    this.#world = world;
    this.#cluster = cluster;
  }

  /** Sends a request of 2026-07-28. Never rejects. */
  send(client: Actor, request: Request): Promise<Reply> {
    return new Promise((resolve) => {
      const replica = this.#next(client, resolve);
      if (replica === undefined) return;
      const exchange = new Exchange(this.#world, { client, replica, request, id: ++this.#ids });
      exchange.run(resolve);
    });
  }

  /** Sends an HTTP request. Never rejects. */
  fetch(client: Actor, request: HttpRequest): Promise<HttpReply> {
    return new Promise((resolve) => {
      const replica = this.#next(client, resolve);
      if (replica === undefined) return;
      new HttpExchange(this.#world, { client, replica, request, id: ++this.#ids }).run(resolve);
    });
  }

  #next(client: Actor, resolve: (reply: { readonly lost: string }) => void): Replica | undefined {
    const replica = this.#cluster.next();
    if (replica === undefined)
      this.#world.scheduler.after(10, client, () => resolve({ lost: 'no replica is up' }));
    return replica;
  }
}

interface ExchangeParts {
  readonly client: Actor;
  readonly replica: Replica;
  readonly request: Request;
  readonly id: number;
}

/** One request over a connection of its own. */
class Exchange {
  readonly #world: World;
  readonly #parts: ExchangeParts;
  readonly #controller = new AbortController();
  readonly #pipe: Pipe;
  #resolve!: (reply: Reply) => void;

  constructor(world: World, parts: ExchangeParts) {
    this.#world = world;
    this.#parts = parts;
    this.#pipe = new Pipe(world, parts, {
      serve: () => this.#serve(),
      gone: (why) => this.#controller.abort(new McpError('connection_closed', why)),
      lost: (lost) => {
        world.note(() => `request ${parts.id} ${lost}`);
        this.#resolve({ lost });
      },
    });
  }

  run(resolve: (reply: Reply) => void): void {
    this.#resolve = resolve;
    const { replica, request, id } = this.#parts;
    request.onSent?.(replica.actor);
    this.#world.note(
      () => `request ${id} to ${replica.actor.name}: ${request.method} ${JSON.stringify(request.params)}`,
    );
    this.#pipe.open(request.timeoutMs);
  }

  #serve(): void {
    const { replica, request, id } = this.#parts;
    const { method, params, subject } = request;
    const auth: Auth | undefined = subject === undefined ? undefined : { subject, scopes: [], claims: {} };
    const call: Call = {
      ...{ id, method, params, peer, signal: this.#controller.signal },
      ...(auth && { auth }),
      notify: (name, values = {}) => {
        const json = JSON.stringify(values);
        this.#pipe.toClient(() => {
          this.#world.note(() => `notification ${id}: ${name} ${json}`);
          request.onNotification?.(name, JSON.parse(json));
        });
      },
    };
    replica.server.dispatch(call).then(
      (outcome: Outcome) => this.#reply({ outcome }),
      (error: unknown) => {
        const { code, message, data } = McpError.is(error)
          ? error
          : new McpError('internal_error', String(error));
        this.#reply({ failure: { code, message, data } });
      },
    );
  }

  #reply(reply: Reply): void {
    const json = JSON.stringify(reply);
    this.#pipe.toClient(() => {
      this.#pipe.end();
      this.#world.note(() => `reply ${this.#parts.id}: ${json}`);
      this.#resolve(JSON.parse(json));
    });
  }
}
