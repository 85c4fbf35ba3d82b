// The network between clients and replicas.

import { type Auth, type Call, McpError, type Outcome, type Peer } from 'fullmcp';
import type { Actor, Event } from '../world/scheduler.js';
import type { World } from '../world/world.js';
import type { SimulatedCluster } from './cluster.js';
import type { Connection, Replica } from './replica.js';

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
/** The longest time until a client notices that its connection is broken. */
const BREAK_MS = 3000;

/** Carries requests to the replicas, in turns, and their replies back. */
export class Network {
  readonly #world: World;
  readonly #cluster: SimulatedCluster;
  #ids = 0;

  constructor(world: World, cluster: SimulatedCluster) {
    this.#world = world;
    this.#cluster = cluster;
  }

  /** Sends a request. Never rejects. */
  send(client: Actor, request: Request): Promise<Reply> {
    const { scheduler } = this.#world;
    return new Promise((resolve) => {
      const replica = this.#cluster.next();
      if (replica === undefined)
        return void scheduler.after(10, client, () => resolve({ lost: 'no replica is up' }));
      const exchange = new Exchange(this.#world, { client, replica, request, id: ++this.#ids });
      exchange.run(resolve);
    });
  }
}

interface ExchangeParts {
  readonly client: Actor;
  readonly replica: Replica;
  readonly request: Request;
  readonly id: number;
}

/** One request over a connection of its own. */
class Exchange implements Connection {
  readonly #world: World;
  readonly #parts: ExchangeParts;
  readonly #controller = new AbortController();
  #isOver = false;
  #isBroken = false;
  #resolve!: (reply: Reply) => void;
  #timer: Event | undefined;
  /** Messages over one connection arrive in order. */
  #lastAt = 0;

  constructor(world: World, parts: ExchangeParts) {
    this.#world = world;
    this.#parts = parts;
  }

  run(resolve: (reply: Reply) => void): void {
    this.#resolve = resolve;
    const { scheduler, settings } = this.#world;
    const { client, replica, request, id } = this.#parts;
    request.onSent?.(replica.actor);
    this.#world.note(
      () => `request ${id} to ${replica.actor.name}: ${request.method} ${JSON.stringify(request.params)}`,
    );
    this.#timer = scheduler.after(request.timeoutMs, client, () => this.#giveUp('timed out'), true);
    replica.connections.add(this);
    if (replica.condition.isNetworkCut || this.#world.fails(settings.losses.request)) return this.break();
    scheduler.after(replica.condition.delay(), replica.actor, () => this.#serve());
  }

  /** Breaks the connection: nothing comes any more, and the client notices that later. */
  break(): void {
    if (this.#isBroken) return;
    this.#isBroken = true;
    const { scheduler, random } = this.#world;
    scheduler.after(random.between(1, BREAK_MS), this.#parts.client, () =>
      this.#giveUp('the connection broke'),
    );
  }

  /** Ends the call, because the server closes. */
  abort(): void {
    this.#controller.abort(new McpError('connection_closed', 'The server is shutting down'));
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
        this.#toClient(() => {
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
    if (this.#world.fails(this.#world.settings.losses.reply)) return this.break();
    this.#toClient(() => {
      this.#end();
      this.#world.note(() => `reply ${this.#parts.id}: ${json}`);
      this.#resolve(JSON.parse(json));
    });
  }

  #toClient(run: () => void): void {
    const { scheduler } = this.#world;
    const { client, replica } = this.#parts;
    if (this.#isBroken || this.#isOver) return;
    if (replica.condition.isNetworkCut) return this.break();
    this.#lastAt = Math.max(this.#lastAt, scheduler.now + replica.condition.delay());
    scheduler.after(this.#lastAt - scheduler.now, client, () => {
      if (!this.#isOver) run();
    });
  }

  /** Closes the connection. The server learns of it, unless it is cut off. */
  #giveUp(lost: string): void {
    if (this.#isOver) return;
    this.#end();
    const { scheduler } = this.#world;
    const { replica, id } = this.#parts;
    this.#world.note(() => `request ${id} ${lost}`);
    if (!replica.condition.isNetworkCut)
      scheduler.after(replica.condition.delay(), replica.actor, () =>
        this.#controller.abort(new McpError('connection_closed', 'The client disconnected')),
      );
    this.#resolve({ lost });
  }

  #end(): void {
    this.#isOver = true;
    this.#timer?.cancel();
    this.#parts.replica.connections.delete(this);
  }
}
