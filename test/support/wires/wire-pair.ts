import { McpError } from '../../../src/protocol/errors.js';
import type { Wire, WireEvents } from '../../../src/transports/client/wire.js';

/** The server's end of a wire in memory. */
export interface FarEnd {
  readonly send: (text: string) => void;
  /** Ends the wire like a server that disconnects. */
  readonly drop: (reason?: string) => void;
  readonly isClosed: () => boolean;
}

/** A wire in memory. Messages arrive later and in order; the client's messages go to `receive`. */
export function wirePair(receive: (text: string) => void): { readonly wire: Wire; readonly far: FarEnd } {
  const early: string[] = [];
  let events: WireEvents | undefined;
  let closed = false;
  const arrive = (text: string): void => {
    if (closed) return;
    if (events === undefined) early.push(text);
    else events.message(text);
  };
  const wire: Wire = {
    send: (text) => {
      if (!closed) queueMicrotask(() => receive(text));
    },
    start(listener) {
      events = listener;
      for (const text of early.splice(0)) listener.message(text);
    },
    async close() {
      closed = true;
    },
  };
  return {
    wire,
    far: {
      send: (text) => queueMicrotask(() => arrive(text)),
      drop(reason = 'The server went away') {
        if (closed) return;
        closed = true;
        events?.closed(new McpError('connection_closed', reason));
      },
      isClosed: () => closed,
    },
  };
}
