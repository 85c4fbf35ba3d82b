import { isBehind } from '../../async/unread.js';
import { END_BYTES, idAtHead, idAtTail } from '../../jsonrpc/long-message.js';
import { quote } from '../../protocol/encoding/shorten.js';
import { McpError } from '../../protocol/errors.js';
import { tlsFailure } from '../client/tls-failure.js';
import type { Wire, WireEvents } from '../client/wire.js';
import { PeerWatch, type WatchedSocket } from './peer-watch.js';
import { SUBPROTOCOL } from './subprotocol.js';

/** The parts of a WebSocket that the client uses; the package `ws` and every runtime's own have them. */
export interface ClientSocket extends WatchedSocket {
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
      /** The message: a string, or bytes. */
      readonly data: unknown;
    }) => void,
  ): void;
  /** Listens for the end of the connection. */
  addEventListener(
    type: 'close',
    listener: (event: {
      /** The close code of RFC 6455. */
      readonly code: number;
      /** The reason that the server gives. */
      readonly reason: string;
    }) => void,
  ): void;
  /** Listens for a failure. */
  addEventListener(
    type: 'error',
    listener: (event: {
      /** The description of the failure, if the runtime gives one. */
      readonly message?: string;
      /** The error behind the failure. Only the package `ws` gives it. */
      readonly error?: unknown;
    }) => void,
  ): void;
  /** Listens for the opening. */
  addEventListener(type: 'open', listener: () => void): void;
  /** The number of bytes that are not sent yet. */
  readonly bufferedAmount: number;
}

/** A WebSocket class, such as `globalThis.WebSocket` or that of the package `ws`. */
export type WebSocketConstructor = new (url: string, protocols?: string | string[]) => ClientSocket;

export interface WebSocketWireOptions {
  /** Makes the socket. Default: the runtime's own, which Node has from version 22 on. */
  readonly WebSocket?: WebSocketConstructor;
  readonly protocols?: string | string[];
  readonly maxMessageBytes?: number;
  /** A server that leaves more than this unread is disconnected. */
  readonly maxBufferedBytes?: number;
  /** The interval of pings; a server that does not respond is disconnected. 0: never. Default: 30 s. Needs the package `ws`. */
  readonly pingMs?: number;
}

const NORMAL_CLOSURE = 1000;
/** The time for the server to complete the closing handshake. */
const HANDSHAKE_MS = 1000;

/** A wire over a WebSocket, a frame for each message. `start` opens the socket; messages that are sent before it is open wait. */
export function webSocketWire(url: string, options: WebSocketWireOptions = {}): Wire {
  const { WebSocket = (globalThis as { WebSocket?: WebSocketConstructor }).WebSocket } = options;
  const { protocols = SUBPROTOCOL, maxMessageBytes = 16 * 1024 * 1024 } = options;
  const { maxBufferedBytes = 16 * 1024 * 1024, pingMs = 30_000 } = options;
  const name = toDisplayUrl(url);
  let socket: ClientSocket | undefined;
  let watch: PeerWatch | undefined;
  let events: WireEvents | undefined;
  let queue: string[] | undefined = [];
  let queueLength = 0;
  let isOver = false;
  let resolveEnded!: () => void;
  const ended = new Promise<void>((resolve) => {
    resolveEnded = resolve;
  });

  function open(): void {
    if (WebSocket === undefined) {
      throw new McpError(
        'connect_failed',
        'This runtime has no WebSocket. Pass one as the option "WebSocket".',
      );
    }
    socket = new WebSocket(url, protocols);
    socket.addEventListener('open', onOpen);
    socket.addEventListener('message', ({ data }) => receive(data));
    let errorMessage = '';
    // Some runtimes report a failure to open only by this event, without a `close` event after it.
    socket.addEventListener('error', (event) => {
      if (queue === undefined) {
        errorMessage = event.message ?? '';
        return;
      }
      lose(connectError(event.message, event.error));
      resolveEnded();
    });
    socket.addEventListener('close', ({ code, reason }) => {
      if (queue !== undefined) lose(connectError(undefined));
      else lose(new McpError('connection_closed', describeClose(name, code, reason || errorMessage)));
      resolveEnded();
    });
  }

  function onOpen(): void {
    const texts = queue ?? [];
    queue = undefined;
    if (isOver || socket === undefined) return;
    const peer = new PeerWatch(socket, { pingMs, onDead });
    watch = peer;
    socket.on?.('ping', () => {
      peer.onPing();
      peer.pauseWhileBehind(maxBufferedBytes);
    });
    for (const text of texts) socket.send(text);
  }

  function onDead(): void {
    lose(new McpError('connection_closed', `${name} does not answer pings, and was disconnected`));
    socket?.terminate?.();
  }

  function receive(data: unknown): void {
    if (isOver) return;
    watch?.onMessage();
    if (typeof data !== 'string') events?.problem('The server sent a binary message. It was skipped.');
    // The length counts UTF-16 units, which are never more than the bytes.
    else if (data.length > maxMessageBytes) {
      const head = data.slice(0, END_BYTES);
      const ends = idAtHead(head) ?? idAtTail(head, data.slice(-END_BYTES));
      const reason = `The server sent a message of more than ${maxMessageBytes} bytes. It was skipped.`;
      events?.tooLong(reason, ends?.isRequest === false ? ends.id : undefined);
    } else events?.message(data);
  }

  // The runtime's message may contain the URL, which may contain a secret.
  function connectError(detail: string | undefined, cause?: unknown): McpError {
    const why =
      detail === undefined || detail === '' || detail.includes('://')
        ? '. No reason is known: is it running, and does it allow this page?'
        : `: ${explain(detail, cause)}`;
    return new McpError('connect_failed', `Cannot connect to ${name}${why}`, { cause });
  }

  function lose(reason: McpError): void {
    if (isOver) return;
    isOver = true;
    events?.closed(reason);
    leave();
  }

  /** Begins the closing handshake, and waits for the server's part only for a limited time. */
  function leave(): void {
    queue = undefined;
    watch?.stop();
    if (socket === undefined) return resolveEnded();
    const timer = setTimeout(() => {
      socket?.terminate?.();
      resolveEnded();
    }, HANDSHAKE_MS);
    void ended.then(() => clearTimeout(timer));
    socket.close(NORMAL_CLOSURE);
  }

  return {
    send(text) {
      if (isOver) return;
      const buffered = queue === undefined ? (socket?.bufferedAmount ?? 0) : queueLength;
      if (isBehind(buffered, maxBufferedBytes)) {
        const unread = `${name} does not read what is sent, and was disconnected`;
        return lose(
          queue === undefined ? new McpError('connection_closed', unread) : connectError('it does not open'),
        );
      }
      if (queue === undefined) return socket?.send(text);
      queue.push(text);
      queueLength += text.length;
    },
    start(listener) {
      if (isOver) return;
      events = listener;
      try {
        open();
      } catch (error) {
        queueMicrotask(() => lose(McpError.is(error) ? error : connectError(undefined, error)));
      }
    },
    close() {
      if (!isOver) {
        isOver = true;
        leave();
      }
      return ended;
    },
  };
}

function describeClose(name: string, code: number, why: string): string {
  return `${name} has closed the connection (${code}${why === '' ? '' : `: ${quote(why, 200)}`})`;
}

/** Replaces OpenSSL's message with one that users understand. */
function explain(detail: string, cause: unknown): string {
  const { code } = (cause ?? {}) as { readonly code?: unknown };
  const why = typeof code === 'string' ? tlsFailure(code) : undefined;
  if (why !== undefined) return why;
  return /wrong version number|packet length too long/.test(detail)
    ? 'it does not speak TLS there. Is it ws:// instead of wss://?'
    : detail;
}

/** The URL for messages: without user, password and query. */
function toDisplayUrl(url: string): string {
  if (!URL.canParse(url)) return 'the URL, which is not valid';
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname}`;
}
