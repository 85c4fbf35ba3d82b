// Taps a WebSocket class.

import type { WebSocketConstructor } from '../../transports/websocket/connect.js';
import type { TappedChannel } from './channel.js';
import type { ConnectSteps } from './steps.js';

/** The listener of any event. */
type Listener = (event: never) => void;

/** A class whose sockets report their messages. Each socket is a connection of its own. */
export function tapSocket(
  Socket: WebSocketConstructor,
  newChannel: () => TappedChannel,
  steps: ConnectSteps,
): WebSocketConstructor {
  return class TappedSocket extends Socket {
    readonly #channel = newChannel();

    constructor(url: string, protocols?: string | string[]) {
      super(url, protocols);
      const { protocol, host, pathname } = new URL(url);
      const end = steps.begin(`open ${protocol}//${host}${pathname}`);
      super.addEventListener('open', () => end('ok'));
      super.addEventListener('error', ({ message = 'it failed' }) => end('failed', message));
      super.addEventListener('close', ({ code }) => end('failed', `closed (${code})`));
    }

    override send(text: string): void {
      this.#channel.sent(text);
      super.send(text);
    }

    override addEventListener(type: string, listener: Listener): void {
      const add = super.addEventListener.bind(this) as (type: string, listener: Listener) => void;
      if (type !== 'message') return add(type, listener);
      add(type, (event: { readonly data: unknown }) => {
        if (typeof event.data === 'string') this.#channel.deliver(event.data, () => listener(event as never));
        else listener(event as never);
      });
    }
  };
}
