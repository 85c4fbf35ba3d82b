import type { Socket } from 'node:net';
import { inSlices } from '../../../async/in-slices.js';

// Watches the connections of pipelined requests. Node reports a closed connection only to the response whose turn it is; the
// responses that wait for their turn would never be notified.

const waiting: unique symbol = Symbol('fullmcp.pipelined');

interface Pipelining extends Socket {
  [waiting]?: Set<() => void>;
}

/** The limit of pipelined requests on a connection, each of which may be a running call. No real client has that many. */
const MAX_WAITING = 10_000;

/** Calls `listener` when the connection closes, unless the returned function was called before. */
export function whilePipelined(socket: Pipelining, listener: () => void): () => void {
  let listeners = socket[waiting];
  if (listeners === undefined) {
    const fresh = new Set<() => void>();
    listeners = fresh;
    socket[waiting] = fresh;
    socket.once('close', () => void inSlices(fresh, (listener) => listener()));
  }
  listeners.add(listener);
  if (listeners.size > MAX_WAITING) socket.destroy();
  const own = listeners;
  return () => own.delete(listener);
}

/** Whether a request ever had to wait on this connection for the reply to another. */
export function hasPipelined(socket: Pipelining): boolean {
  return socket[waiting] !== undefined;
}

/** The number of requests that wait on this connection for the reply to another. */
export function pipelinedOn(socket: Pipelining): number {
  return socket[waiting]?.size ?? 0;
}
