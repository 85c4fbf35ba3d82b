// Keeps connections to one server open between requests.

import http from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Lane } from '../../../transports/http/client/carrier.js';
import type { DialCallback, Dialer, DialOptions } from './dial.js';

/** The limit of open connections for each kind of request. Further requests wait until one is free. */
const MAX_SOCKETS = 256;
/** The time that an unused connection is kept: shorter than a server's, so that no request is sent on a closing connection. */
const IDLE_MS = 4000;
/** The margin before the server's own timeout. */
const SOONER_MS = 1000;

const { addRequest } = http.Agent.prototype as unknown as {
  addRequest: (request: http.ClientRequest, options: http.ClientRequestArgs) => void;
};

/** Node's agent, with a limit for each lane, which closes connections before the server does. */
export class Pool extends http.Agent {
  readonly #dialer: Dialer;
  readonly #bytesWritten = new WeakMap<object, number>();
  #hint: string | string[] | undefined;
  #idleMs = IDLE_MS;

  constructor(dialer: Dialer, { secure }: { readonly secure: boolean }) {
    super({ keepAlive: true, maxSockets: MAX_SOCKETS, maxFreeSockets: MAX_SOCKETS, scheduling: 'lifo' });
    this.#dialer = dialer;
    // Node requires it of its agents. The dialer handles TLS.
    Object.assign(this, { protocol: secure ? 'https:' : 'http:' });
  }

  /** Reads how long the server keeps a connection, from its header `Keep-Alive`. */
  readKeepAlive(hint: string | string[] | undefined): void {
    if (hint === this.#hint) return;
    this.#hint = hint;
    const seconds = /timeout=(\d{1,9})/.exec(String(hint ?? ''))?.[1];
    this.#idleMs = seconds === undefined ? IDLE_MS : Math.min(Number(seconds) * 1000 - SOONER_MS, IDLE_MS);
  }

  /** Gives a request a connection. A free one is found here, because Node's own search copies all options twice. */
  addRequest(request: http.ClientRequest, options: http.ClientRequestArgs): void {
    const name = this.getName(options);
    const free = this.freeSockets[name];
    const inUse = this.sockets[name];
    let socket = free?.pop();
    // The server may have closed the connection a moment ago.
    while (socket?.writable === false) {
      socket.destroy();
      socket = free?.pop();
    }
    // Node removes empty lists, and creates them when it needs them.
    if (free?.length === 0) Reflect.deleteProperty(this.freeSockets, name);
    if (socket === undefined) return Reflect.apply(addRequest, this, [request, options]);
    this.reuseSocket(socket, request);
    if (inUse === undefined) (this.sockets as Record<string, Socket[]>)[name] = [socket];
    else inUse.push(socket);
    request.onSocket(socket);
  }

  // All requests of a pool go to the same server.
  override getName(options?: http.ClientRequestArgs & { readonly lane?: Lane }): string {
    return options?.lane ?? 'call';
  }

  override createConnection(
    options: http.ClientRequestArgs,
    callback?: (error: Error | null, socket: Duplex) => void,
  ): Socket | undefined {
    return this.#dialer.dial(options as unknown as DialOptions, callback as DialCallback);
  }

  /** Unused connections do not keep a program running. */
  override keepSocketAlive(socket: Socket): boolean {
    if (this.#idleMs <= 0) return false;
    socket.setTimeout(this.#idleMs);
    socket.unref();
    return true;
  }

  /** Whether nothing was written since the connection was given to the request that has it now. */
  isUnused(socket: Socket | null): boolean {
    return socket !== null && this.#bytesWritten.get(socket) === socket.bytesWritten;
  }

  override reuseSocket(socket: Socket, request: http.ClientRequest): void {
    super.reuseSocket(socket, request);
    socket.setTimeout(0);
    this.#bytesWritten.set(socket, socket.bytesWritten);
  }
}
