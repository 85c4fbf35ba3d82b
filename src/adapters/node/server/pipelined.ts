import type { Socket } from 'node:net';
import { inSlices } from '../../../async/in-slices.js';

// Node tells a response that its connection is gone only if it is that response's turn to be sent. The responses to
// pipelined requests wait for their turn, and would never hear of it.

const waiting: unique symbol = Symbol('fullmcp.pipelined');

interface Pipelining extends Socket {
  [waiting]?: Set<() => void>;
}

/** No client pipelines so many requests; each of them may be a call that is being served. */
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
