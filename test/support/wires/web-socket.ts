import { once } from 'node:events';
import { WebSocket } from 'ws';
import { soon } from '../until.js';

// biome-ignore lint/suspicious/noExplicitAny: what a peer sent, to be matched against
type Message = Record<string, any>;

export interface WebSocketClient {
  readonly socket: WebSocket;
  readonly send: (message: unknown) => void;
  readonly next: () => Promise<Message>;
}

export async function openWebSocket(url: string): Promise<WebSocketClient> {
  const socket = new WebSocket(url.replace('http', 'ws'), 'mcp');
  socket.on('error', () => undefined);
  const received: Message[] = [];
  let wake: (() => void) | undefined;
  socket.on('message', (data) => {
    received.push(JSON.parse(String(data)) as Message);
    wake?.();
  });
  await once(socket, 'open');
  return {
    socket,
    send: (message) => socket.send(typeof message === 'string' ? message : JSON.stringify(message)),
    async next() {
      if (received.length === 0) {
        await soon('The next message', new Promise<void>((resolve) => (wake = resolve)));
      }
      return received.shift() as Message;
    },
  };
}
