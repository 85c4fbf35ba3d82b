// WebSockets without a network.

import type { Dispatch } from '../../protocol/call.js';
import type { HeaderValues } from '../../transports/http/client/options.js';
import type { Socket } from '../../transports/websocket/accept.js';
import type { ClientSocket, WebSocketConstructor } from '../../transports/websocket/connect.js';
import { serveWebSocket } from '../../websocket.js';

interface MemoryWebSocketParts {
  /** Called with a promise that resolves when the server has released a socket. */
  readonly onServing: (closed: Promise<void>) => void;
  readonly headers: HeaderValues | undefined;
}

/** A WebSocket class whose sockets connect to this server, without a network. */
export function memoryWebSocket(
  dispatch: Dispatch,
  { onServing, headers }: MemoryWebSocketParts,
): WebSocketConstructor {
  const fields = new Headers(headers as ConstructorParameters<typeof Headers>[0]);
  const http = { header: (name: string) => fields.get(name) ?? undefined, remoteAddress: undefined };
  return class MemoryWebSocket extends End implements ClientSocket {
    constructor() {
      super();
      const server = new End();
      this.join(server);
      onServing(serveWebSocket({ dispatch }, server as Socket, { http }).closed);
      this.emit('open', {});
    }
  };
}

type Listener = (event: never) => void;

/** One end of a connection. A message that one end sends becomes an event of the other, soon and in order. */
class End {
  readonly bufferedAmount = 0;
  readonly #listeners = new Map<string, Listener[]>();
  #other: End | undefined;
  #isClosed = false;

  join(other: End): void {
    this.#other = other;
    other.#other = this;
  }

  addEventListener(type: string, listener: Listener): void {
    this.#listeners.set(type, [...(this.#listeners.get(type) ?? []), listener]);
  }

  send(text: string): void {
    if (!this.#isClosed) this.#other?.emit('message', { data: text });
  }

  close(code = 1000, reason = ''): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const other = this.#other;
    if (other !== undefined) other.#isClosed = true;
    other?.emit('close', { code, reason });
    this.emit('close', { code, reason });
  }

  emit(type: string, event: object): void {
    queueMicrotask(() => {
      for (const listener of this.#listeners.get(type) ?? []) listener(event as never);
    });
  }
}
