// The wiretap of one connection: a `connect` whose messages are seen, whatever carries them.

import { AsyncLocalStorage } from 'node:async_hooks';
import { ownRuntime } from '../../adapters/runtime/own-runtime.js';
import { type Connect, makeConnect } from '../../connect/connect.js';
import type { OpenCarrier, Runtime } from '../../connect/targets/options.js';
import type { Target } from '../../connect/targets/target.js';
import type { Discovery } from '../../protocol/services.js';
import { processName } from '../../transports/client/process-name.js';
import { overFetch } from '../../transports/http/client/over-fetch.js';
import { TappedChannel } from './channel.js';
import type { Scope, WireListener } from './seen.js';
import { ConnectSteps } from './steps.js';
import { tapCarrier } from './tap-carrier.js';
import { tapDispatch, tapLink } from './tap-dispatch.js';
import { tapSocket } from './tap-socket.js';
import { tapWire } from './tap-wire.js';

export interface WiretapParts {
  readonly listener: WireListener;
  /** The scope of what happens outside of any action: connecting, and reconnecting. */
  readonly background: Scope;
  /** Sends the requests of HTTP in place of the runtime's own client. */
  readonly fetch?: typeof fetch | undefined;
}

export class Wiretap {
  readonly connect: Connect;
  readonly #parts: WiretapParts;
  readonly #scopes = new AsyncLocalStorage<Scope>();
  readonly #steps: ConnectSteps;

  constructor(parts: WiretapParts) {
    this.#parts = parts;
    this.#steps = new ConnectSteps(parts.listener.step);
    this.connect = makeConnect(this.#runtime());
  }

  /** Runs work that belongs to a story. */
  run<T>(scope: Scope, work: () => T): T {
    return this.#scopes.run(scope, work);
  }

  /** The scope of the work that runs now. */
  get scope(): Scope {
    return this.#scopes.getStore() ?? this.#parts.background;
  }

  /** The target to connect to. A server in the same process has no wire, so its calls are tapped. */
  target(target: Target): Target {
    if (typeof target === 'function') return this.#inProcess(target);
    if (typeof target === 'object' && 'dispatch' in target) return this.#inProcess(target.dispatch);
    return target;
  }

  #inProcess(dispatch: Parameters<typeof tapDispatch>[0]): Target {
    return { dispatch: tapDispatch(dispatch, this.#channel()) };
  }

  #channel({ isHttp = false } = {}): TappedChannel {
    const { listener, background } = this.#parts;
    return new TappedChannel({
      listener,
      background,
      scopes: this.#scopes,
      ...(!isHttp && { steps: this.#steps }),
    });
  }

  #runtime(): Runtime {
    const { openProcess, webSocket, nats } = ownRuntime;
    return {
      ...ownRuntime,
      http: this.#carrier(),
      ...(openProcess && {
        openProcess: async (server, options) =>
          tapWire(
            await openProcess(server, options),
            this.#channel(),
            this.#steps,
            `start ${processName(server)}`,
          ),
      }),
      ...(webSocket && {
        ownWebSocket: false,
        webSocket: async (headers, options, onRefused) =>
          tapSocket(await webSocket(headers, options, onRefused), () => this.#channel(), this.#steps),
      }),
      ...(nats && {
        nats: async (url) => {
          const found = await nats(url);
          return { ...found, discovery: this.#discovery(found.discovery) };
        },
      }),
    };
  }

  #carrier(): OpenCarrier {
    const { fetch: own } = this.#parts;
    const { http } = ownRuntime;
    return async (url, options) => {
      const carrier = own !== undefined || http === undefined ? overFetch(own) : await http(url, options);
      return tapCarrier(carrier, this.#channel({ isHttp: true }), this.#steps);
    };
  }

  #discovery(discovery: Discovery): Discovery {
    return {
      register: (server, options) => discovery.register(server, options),
      list: () => discovery.list(),
      find: (name) => discovery.find(name),
      open: (name, options) => async (events, open) =>
        tapLink(await discovery.open(name, options)(events, open), this.#channel()),
      close: () => discovery.close(),
    };
  }
}
