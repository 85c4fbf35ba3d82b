// A client of the simulated server.

import type { Ledger } from '../checks/ledger.js';
import type { HttpReply, HttpRequest } from '../cluster/http-exchange.js';
import type { Network, Reply, Request } from '../cluster/network.js';
import type { Actor } from '../world/scheduler.js';
import type { World } from '../world/world.js';

/** The parts of a client that all clients share. */
export interface ClientParts {
  readonly world: World;
  readonly ledger: Ledger;
  readonly network: Network;
}

/** A client: an actor that makes one request after the other. */
export class Client {
  readonly world: World;
  readonly ledger: Ledger;
  readonly actor: Actor;
  /** The caller; undefined if it is anonymous. */
  readonly subject: string | undefined;
  /** The tasks that this client knows, with the names of their jobs. */
  readonly known = new Map<string, string>();
  readonly #network: Network;

  constructor({ world, ledger, network }: ClientParts, actor: Actor, subject: string | undefined) {
    this.world = world;
    this.ledger = ledger;
    this.#network = network;
    this.actor = actor;
    this.subject = subject;
  }

  /** Makes a request. Never rejects. */
  call(method: string, params: Record<string, unknown>, more: Partial<Request> = {}): Promise<Reply> {
    const { subject } = this;
    return this.#network.send(this.actor, { method, params, subject, timeoutMs: 10_000, ...more });
  }

  /** Makes an HTTP request. Never rejects. */
  fetch(request: Pick<HttpRequest, 'method' | 'headers'> & Partial<HttpRequest>): Promise<HttpReply> {
    const { subject } = this;
    return this.#network.fetch(this.actor, { subject, timeoutMs: 10_000, ...request });
  }
}
