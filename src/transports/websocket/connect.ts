import { END_BYTES, idAtHead, idAtTail } from '../../jsonrpc/long-message.js';
import { quote } from '../../protocol/encoding/shorten.js';
import { McpError } from '../../protocol/errors.js';
import { isBehind } from '../client/backlog.js';
import type { Wire, WireEvents } from '../client/wire.js';
import { PeerWatch, type WatchedSocket } from './peer-watch.js';
import { SUBPROTOCOL } from './subprotocol.js';

/** The parts of a WebSocket that the client uses; the package `ws` and every runtime's own have them. */
export interface ClientSocket extends WatchedSocket {
  /** Sends a message. */
  send(text: string): void;
  /** Closes with a goodbye. */
  close(code?: number, reason?: string): void;
  /** Closes without a goodbye. Only the package `ws` has it. */
  terminate?(): void;
  /** Listens for messages. */
  addEventListener(
    type: 'message',
    listener: (event: {
      /** The message: a string, or bytes. */
      readonly data: unknown;
    }) => void,
  ): void;
  /** Listens for the end. */
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
      /** The failure in words, when the runtime gives them. */
      readonly message?: string;
    }) => void,
  ): void;
  /** Listens for the beginning. */
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
  /** How often the server is pinged; one that does not answer is disconnected. 0: never. Default: 30 s. Needs Node's `ws`. */
  readonly pingMs?: number;
}

const NORMAL = 1000;
/** How long the other side may take to say goodbye too. */
const GOODBYE_MS = 1000;

/** A WebSocket, a message a frame. It is opened by `start`; what is sent before it is open waits. */
export function webSocketWire(url: string, options: WebSocketWireOptions = {}): Wire {
  const { WebSocket = (globalThis as { WebSocket?: WebSocketConstructor }).WebSocket } = options;
  const { protocols = SUBPROTOCOL, maxMessageBytes = 16 * 1024 * 1024 } = options;
  const { maxBufferedBytes = 16 * 1024 * 1024, pingMs = 30_000 } = options;
  const name = shown(url);
  let socket: ClientSocket | undefined;
  let watch: PeerWatch | undefined;
  let events: WireEvents | undefined;
  let waiting: string[] | undefined = [];
  let waitingLength = 0;
  let over = false;
  let gone!: () => void;
  const ended = new Promise<void>((resolve) => {
    gone = resolve;
  });

  function open(): void {
    if (WebSocket === undefined) {
      throw new McpError(
        'connect_failed',
        'This runtime has no WebSocket. Give one as the option "WebSocket".',
      );
    }
    socket = new WebSocket(url, protocols);
    socket.addEventListener('open', opened);
    socket.addEventListener('message', ({ data }) => receive(data));
    let broken = '';
    // Before it is open, some runtimes tell a failure only so, and nothing comes after it.
    socket.addEventListener('error', (event) => {
      if (waiting === undefined) {
        broken = event.message ?? '';
        return;
      }
      lose(failed(event.message));
      gone();
    });
    socket.addEventListener('close', ({ code, reason }) => {
      if (waiting !== undefined) lose(failed(undefined));
      else lose(new McpError('connection_closed', closedBecause(name, code, reason || broken)));
      gone();
    });
  }

  function opened(): void {
    const texts = waiting ?? [];
    waiting = undefined;
    if (over || socket === undefined) return;
    const peer = new PeerWatch(socket, { pingMs, onDead: dead });
    watch = peer;
    socket.on?.('ping', () => {
      peer.onPing();
      peer.pauseWhileBehind(maxBufferedBytes);
    });
    for (const text of texts) socket.send(text);
  }

  function dead(): void {
    lose(new McpError('connection_closed', `${name} does not answer pings, and was disconnected`));
    socket?.terminate?.();
  }

  function receive(data: unknown): void {
    if (over) return;
    watch?.onMessage();
    if (typeof data !== 'string') events?.problem('The server sent a binary message. It was skipped.');
    // UTF-16 units: never more than the bytes, so that what passes here is bounded either way.
    else if (data.length > maxMessageBytes) {
      const head = data.slice(0, END_BYTES);
      const ends = idAtHead(head) ?? idAtTail(head, data.slice(-END_BYTES));
      const reason = `The server sent a message of more than ${maxMessageBytes} bytes. It was skipped.`;
      events?.tooLong(reason, ends?.isRequest === false ? ends.id : undefined);
    } else events?.message(data);
  }

  // A message of the runtime may repeat the URL, and with it what is secret there.
  function failed(detail: string | undefined, cause?: unknown): McpError {
    const why =
      detail === undefined || detail === '' || detail.includes('://')
        ? '. No reason is known: is it running, and does it let this page in?'
        : `: ${inWords(detail)}`;
    return new McpError('connect_failed', `Cannot connect to ${name}${why}`, { cause });
  }

  function lose(reason: McpError): void {
    if (over) return;
    over = true;
    events?.closed(reason);
    leave();
  }

  /** Begins the closing handshake, and does not wait for the other side's forever. */
  function leave(): void {
    waiting = undefined;
    watch?.stop();
    if (socket === undefined) return gone();
    const timer = setTimeout(() => {
      socket?.terminate?.();
      gone();
    }, GOODBYE_MS);
    void ended.then(() => clearTimeout(timer));
    socket.close(NORMAL);
  }

  return {
    send(text) {
      if (over) return;
      const buffered = waiting === undefined ? (socket?.bufferedAmount ?? 0) : waitingLength;
      if (isBehind(buffered, maxBufferedBytes)) {
        const unread = `${name} does not read what is sent, and was disconnected`;
        return lose(
          waiting === undefined ? new McpError('connection_closed', unread) : failed('it does not open'),
        );
      }
      if (waiting === undefined) return socket?.send(text);
      waiting.push(text);
      waitingLength += text.length;
    },
    start(given) {
      if (over) return;
      events = given;
      try {
        open();
      } catch (error) {
        queueMicrotask(() => lose(McpError.is(error) ? error : failed(undefined, error)));
      }
    },
    close() {
      if (!over) {
        over = true;
        leave();
      }
      return ended;
    },
  };
}

function closedBecause(name: string, code: number, why: string): string {
  return `${name} has closed the connection (${code}${why === '' ? '' : `: ${quote(why, 200)}`})`;
}

/** Replaces OpenSSL's message with one that users understand. */
function inWords(detail: string): string {
  return /wrong version number|packet length too long/.test(detail)
    ? 'it does not speak TLS there. Is it ws:// instead of wss://?'
    : detail;
}

/** The URL as it may be shown: without user, password and query. */
function shown(url: string): string {
  if (!URL.canParse(url)) return 'the URL, which is not valid';
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname}`;
}
