import { callAt } from '../../async/call-at.js';
import type { Dispatch } from '../../protocol/call.js';
import type { Caller } from '../../protocol/caller.js';
import { fillDefaults } from '../../protocol/checks/options.js';
import { Backlog } from '../server/backlog.js';
import { type ChannelOptions, openChannel } from '../server/channel.js';
import { PeerWatch, type WatchedSocket } from './peer-watch.js';

/** The part of a WebSocket that `serveWebSocket` uses. The package `ws` and every runtime's own WebSocket have it. */
export interface Socket extends WatchedSocket {
  /** Sends a message. */
  send(text: string): void;
  /** Begins the closing handshake. */
  close(code?: number, reason?: string): void;
  /** Closes the connection without a handshake. Only the package `ws` has it. */
  terminate?(): void;
  /** Listens for messages. */
  addEventListener(
    type: 'message',
    listener: (event: {
      /** The message, a string if the frame was text. */
      readonly data: unknown;
    }) => void,
  ): void;
  /** Listens for the end of the connection. */
  addEventListener(type: 'close' | 'error', listener: () => void): void;
}

/** The limits of a WebSocket connection. */
export interface WebSocketOptions {
  /** The largest message that is read, in bytes; a larger one closes the connection with 1009. Default: 4 MB. */
  readonly maxMessageBytes?: number;
  /**
   * A client that leaves more than this many bytes of unsolicited messages unread is disconnected. Responses wait: while the
   * client does not read them, nothing more is read from it, if the socket can be paused. Default: 4 MB.
   */
  readonly maxBufferedBytes?: number;
  /**
   * The number of calls that may be open at the same time. At the limit, nothing more is read; if no call ends for a second,
   * or the socket cannot be paused, further calls are rejected with `overloaded`. Default: 1,000.
   */
  readonly maxOpenCalls?: number;
  /**
   * The interval of pings; a client that does not respond is disconnected. 0: never. Default: 30 s. Ignored unless the socket
   * comes from the package `ws`.
   */
  readonly pingMs?: number;
  /** A client that has sent nothing for this long and has no call open is disconnected. 0: never. Default: 1 hour. */
  readonly idleMs?: number;
  /** A connection that has been open for this long is closed after its calls had 10 s to end. 0: never. Default: 24 hours. */
  readonly maxAgeMs?: number;
}

/** The table of `WebSocketOptions`. */
export const webSocketTable = {
  maxMessageBytes: { is: 'number', default: 4_194_304 },
  maxBufferedBytes: { is: 'number', default: 4_194_304 },
  maxOpenCalls: { is: 'number', default: 1000 },
  pingMs: { is: 'ms', default: 30_000 },
  idleMs: { is: 'ms', default: 3_600_000 },
  maxAgeMs: { is: 'ms', default: 86_400_000 },
} as const;

/** A client that is served on a WebSocket. */
export interface WebSocketServing {
  /** Ends subscriptions, lets open calls finish until the deadline, and closes the socket. */
  readonly close: (options: {
    /** The time for open calls to finish; then they are ended. */
    readonly deadlineMs: number;
  }) => Promise<void>;
  /** Resolves when the socket is closed, by either side. */
  readonly closed: Promise<void>;
}

interface Deadline {
  readonly deadlineMs: number;
}

interface Parts {
  readonly dispatch: Dispatch;
  readonly session?: (send: (text: string) => void) => ChannelOptions['session'];
  readonly caller?: Caller | undefined;
  readonly watch?: WatchCaller | undefined;
}

/** Calls `onEnd` when the credentials of the caller are not valid any more. Returns the function that stops. */
export type WatchCaller = (onEnd: () => void) => (() => void) | undefined;

const GOING_AWAY = 1001;
/** "Unauthorized", in the registry of RFC 6455. */
const UNAUTHORIZED = 3000;
const MESSAGE_TOO_BIG = 1009;
const POLICY_VIOLATION = 1008;
/** The time for the client to complete the closing handshake. */
const HANDSHAKE_MS = 1000;
/** Above this number of unread bytes, no further requests are read. */
const FULL_AT = 1024 * 1024;
/** The time for the calls of a connection that is too old to end. */
const MAX_AGE_DRAIN_MS = 10_000;

/** Serves one client on an open WebSocket. Each message is a frame. */
export function serveOverWebSocket(
  { dispatch, session, caller, watch: watchCaller }: Parts,
  socket: Socket,
  options: WebSocketOptions = {},
): WebSocketServing {
  const settings = fillDefaults<WebSocketOptions, typeof webSocketTable>(options, webSocketTable);
  const { maxMessageBytes, maxBufferedBytes, maxOpenCalls, pingMs, idleMs, maxAgeMs } = settings;
  const backlog = new Backlog(() => socket.bufferedAmount ?? 0, maxBufferedBytes);
  const fullAt = Math.min(FULL_AT, maxBufferedBytes);
  let isOpen = true;

  const send = (text: string): void => {
    if (!isOpen) return;
    if (backlog.isFull) return disconnect('The client does not read');
    backlog.addUnsolicited(text.length);
    socket.send(text);
  };
  const sendResponse = (text: string): void => {
    if (!isOpen) return;
    backlog.addResponse(text.length);
    socket.send(text);
  };
  const channel = openChannel({
    transport: 'websocket',
    dispatch,
    send,
    sendResponse,
    maxOpenCalls,
    caller,
    session: session?.(send),
    input: inputOf(socket),
    outputFull: () => watch.isBehind(fullAt),
  });
  const watch = new PeerWatch(socket, {
    pingMs,
    tickMs: Math.min(...[pingMs, idleMs / 4, maxAgeMs / 4].filter((ms) => ms > 0), 60_000),
    onDead: () => disconnect('The client does not answer'),
    onTick({ quietMs, openMs }) {
      if (maxAgeMs > 0 && openMs >= maxAgeMs)
        void end({ deadlineMs: MAX_AGE_DRAIN_MS }, 'The connection is too old');
      else if (idleMs > 0 && quietMs >= idleMs && channel.openCalls() === 0)
        void end({ deadlineMs: 0 }, 'The connection was idle');
    },
  });
  socket.addEventListener('message', ({ data }) => {
    watch.onMessage();
    if (typeof data !== 'string') return channel.refuse('Messages are text, not binary');
    // The length counts UTF-16 units, which are never more than the bytes.
    if (data.length > maxMessageBytes) return socket.close(MESSAGE_TOO_BIG, 'The message is too long');
    channel.receive(data);
  });
  socket.on?.('ping', () => {
    watch.onPing();
    channel.recheck();
  });
  let resolveClosed!: () => void;
  const closed = new Promise<void>((resolve) => {
    resolveClosed = resolve;
  });

  function disconnect(reason: string): void {
    if (!isOpen) return;
    socket.close(POLICY_VIOLATION, reason);
    socket.terminate?.();
    leave(reason);
  }

  const { expiresAt } = caller?.auth ?? {};
  const stopExpiry =
    expiresAt === undefined
      ? undefined
      : callAt(expiresAt, () => void end({ deadlineMs: 0 }, 'The token has expired', UNAUTHORIZED));

  const stopWatch = watchCaller?.(
    () => void end({ deadlineMs: 0 }, 'The token is not valid any more', UNAUTHORIZED),
  );

  function leave(reason: string): void {
    isOpen = false;
    stopExpiry?.();
    stopWatch?.();
    watch.stop();
    void channel.abandon(reason).then(resolveClosed);
  }

  let ending: Promise<void> | undefined;
  function end(deadline: Deadline, reason: string, code = GOING_AWAY): Promise<void> {
    ending ??= closeGracefully(deadline, reason, code);
    return ending;
  }

  async function closeGracefully(deadline: Deadline, reason: string, code: number): Promise<void> {
    stopExpiry?.();
    stopWatch?.();
    await channel.close(deadline);
    watch.stop();
    // The client's close frame must be read.
    socket.resume?.();
    socket.close(code, reason);
    if (socket.terminate === undefined) return;
    const timer = setTimeout(() => socket.terminate?.(), HANDSHAKE_MS);
    await closed;
    clearTimeout(timer);
  }

  const onGone = (): void => leave('The client went away');
  socket.addEventListener('close', onGone);
  socket.addEventListener('error', onGone);
  return { closed, close: (deadline) => end(deadline, 'The server is shutting down') };
}

function inputOf(socket: Socket): ChannelOptions['input'] {
  if (socket.pause === undefined || socket.resume === undefined) return undefined;
  return { pause: () => socket.pause?.(), resume: () => socket.resume?.() };
}
