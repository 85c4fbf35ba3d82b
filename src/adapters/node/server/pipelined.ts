import type { Socket } from 'node:net';
import { inSlices } from '../../../async/in-slices.js';

// Watches the connections of pipelined requests. Node reports a closed connection only to the response whose turn it is; the
// responses that wait for their turn would never be notified.

const waiting: unique symbol = Symbol('fullmcp.pipelined');

interface Pipelining extends Socket {
  [waiting]?: Set<() => void>;
}

/** The limit of pipelined requests, each of which may be a running call. No real client has as many. */
const MOST_WAITING = 10_000;

/** Calls `gone` when the connection closes, unless the function that is returned was called before. */
export function whilePipelined(socket: Pipelining, gone: () => void): () => void {
  let listeners = socket[waiting];
  if (listeners === undefined) {
    const fresh = new Set<() => void>();
    listeners = fresh;
    socket[waiting] = fresh;
    socket.once('close', () => void inSlices(fresh, (tell) => tell()));
  }
  listeners.add(gone);
  if (listeners.size > MOST_WAITING) socket.destroy();
  const joined = listeners;
  return () => joined.delete(gone);
}

/** Whether a request ever had to wait on this connection for the answer to another. */
export function hasPipelined(socket: Pipelining): boolean {
  return socket[waiting] !== undefined;
}

/** How many requests wait on this connection for the answer to another. */
export function pipelinedOn(socket: Pipelining): number {
  return socket[waiting]?.size ?? 0;
}
