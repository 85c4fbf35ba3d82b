import type { Dispatch } from '../../protocol/call.js';
import type { Caller } from '../../protocol/caller.js';
import type { KeysOf } from '../../protocol/known-keys.js';
import { type ChannelOptions, openChannel } from '../channel.js';

/** What is needed of a WebSocket; Node's `ws` and every runtime's own have it. */
export interface Socket {
  send(text: string): void;
  close(code?: number, reason?: string): void;
  /** Ends without a goodbye. Only Node's `ws` has it. */
  terminate?(): void;
  addEventListener(type: 'message', listener: (event: { readonly data: unknown }) => void): void;
  addEventListener(type: 'close' | 'error', listener: () => void): void;
  readonly bufferedAmount?: number;
}

export interface WebSocketOptions {
  readonly maxMessageBytes?: number;
  /** A client that leaves more than this unread is let go. */
  readonly maxBufferedBytes?: number;
}

export const webSocketKeys: KeysOf<WebSocketOptions> = {
  maxMessageBytes: true,
  maxBufferedBytes: true,
};

export interface WebSocketServing {
  readonly close: (options: { readonly deadlineMs: number }) => Promise<void>;
  /** Resolves when the socket is closed, by whichever side. */
  readonly closed: Promise<void>;
}

interface Parts {
  readonly dispatch: Dispatch;
  readonly session?: (send: (text: string) => void) => ChannelOptions['session'];
  readonly caller?: Caller | undefined;
}

/** The subprotocol that MCP clients ask for. */
export const SUBPROTOCOL = 'mcp';

const GOING_AWAY = 1001;
const TOO_BIG = 1009;
const POLICY = 1008;
/** How long the other side may take to say goodbye too. */
const GOODBYE_MS = 1000;

/** Serves one client on an open WebSocket, a message a frame. */
export function serveOverWebSocket(
  { dispatch, session, caller }: Parts,
  socket: Socket,
  options: WebSocketOptions = {},
): WebSocketServing {
  const { maxMessageBytes = 4 * 1024 * 1024, maxBufferedBytes = 4 * 1024 * 1024 } = options;
  let open = true;
  const send = (text: string): void => {
    if (!open) return;
    // What lay there before this message counts: one that is large in itself is no sign that nobody reads.
    if ((socket.bufferedAmount ?? 0) <= maxBufferedBytes) return socket.send(text);
    socket.close(POLICY, 'The client does not read');
    socket.terminate?.();
    leave();
  };
  const channel = openChannel({ dispatch, send, session: session?.(send), caller });
  socket.addEventListener('message', ({ data }) => {
    if (typeof data !== 'string') return channel.refuse('Messages are text, not binary');
    // UTF-16 units: never more than the bytes, so that what passes here is bounded either way.
    if (data.length > maxMessageBytes) return socket.close(TOO_BIG, 'The message is too long');
    channel.receive(data);
  });
  let left!: () => void;
  const closed = new Promise<void>((resolve) => {
    left = resolve;
  });
  function leave(): void {
    open = false;
    void channel.close({ deadlineMs: 0 }).then(left);
  }
  socket.addEventListener('close', leave);
  socket.addEventListener('error', leave);
  return {
    closed,
    async close(deadline) {
      await channel.close(deadline);
      socket.close(GOING_AWAY, 'The server is shutting down');
      if (socket.terminate === undefined) return;
      const timer = setTimeout(() => socket.terminate?.(), GOODBYE_MS);
      await closed;
      clearTimeout(timer);
    },
  };
}
