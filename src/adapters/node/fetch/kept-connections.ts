// Connections of the hardened fetch that stay open for the next requests to the same origin.

import http from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** The time that an unused connection is kept: shorter than a server's, so that few requests are sent on a closing connection. */
const IDLE_MS = 4000;
/** The age from which a connection is not kept: a name that leads elsewhere now is resolved and checked again by then. */
const MAX_AGE_MS = 60_000;
/** The unused connections of one origin, and of all together. */
const MAX_IDLE_PER_ORIGIN = 128;
const MAX_IDLE = 256;

/** The options of a request on a kept connection. */
interface KeptOptions extends http.ClientRequestArgs {
  /** The origin. Connections of one are never used for another, although they may have the same address. */
  readonly origin: string;
  /** Resolves the name, checks the addresses, and dials one of them. Called for each new connection. */
  readonly connect: () => Promise<Socket>;
}

/** Node's agent, which opens connections only as it is told, and keeps them for a time. */
export class KeptConnections extends http.Agent {
  readonly #openedAt = new WeakMap<Socket, number>();
  readonly #idle = new Set<Socket>();

  constructor() {
    super({ keepAlive: true, maxFreeSockets: MAX_IDLE_PER_ORIGIN, scheduling: 'lifo' });
  }

  /** Sends a request on a kept connection, or on a new one. */
  request(options: KeptOptions): http.ClientRequest {
    return http.request({ ...options, agent: this });
  }

  override getName(options?: http.ClientRequestArgs): string {
    return (options as KeptOptions).origin;
  }

  override createConnection(
    options: http.ClientRequestArgs,
    callback?: (error: Error | null, socket: Duplex) => void,
  ): undefined {
    const created = callback as (error: unknown, socket?: Duplex) => void;
    void (options as KeptOptions).connect().then(
      (socket) => {
        this.#openedAt.set(socket, performance.now());
        socket.once('close', () => this.#idle.delete(socket));
        created(null, socket);
      },
      (error: unknown) => created(error),
    );
  }

  /** Unused connections do not keep a program running. */
  override keepSocketAlive(socket: Socket): boolean {
    const age = performance.now() - (this.#openedAt.get(socket) ?? Number.NEGATIVE_INFINITY);
    if (age > MAX_AGE_MS || this.#idle.size >= MAX_IDLE) return false;
    this.#idle.add(socket);
    socket.setTimeout(IDLE_MS);
    socket.unref();
    return true;
  }

  override reuseSocket(socket: Socket, request: http.ClientRequest): void {
    super.reuseSocket(socket, request);
    this.#idle.delete(socket);
    socket.setTimeout(0);
  }
}
