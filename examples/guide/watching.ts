import { createServer, resource } from 'fullmcp';

type Listener = (price: number) => void;

/** Stands for a service that sends prices to its subscribers. */
export class Exchange {
  readonly #prices = new Map<string, number>();
  readonly #listeners = new Map<string, Set<Listener>>();

  get watched(): readonly string[] {
    return [...this.#listeners].filter(([, { size }]) => size > 0).map(([symbol]) => symbol);
  }

  price(symbol: string): number | undefined {
    return this.#prices.get(symbol);
  }

  trade(symbol: string, price: number): void {
    this.#prices.set(symbol, price);
    for (const listener of this.#listeners.get(symbol) ?? []) listener(price);
  }

  async watch(symbol: string, listener: Listener, signal: AbortSignal): Promise<void> {
    const listeners = this.#listeners.get(symbol) ?? new Set();
    this.#listeners.set(symbol, listeners.add(listener));
    signal.addEventListener('abort', () => listeners.delete(listener));
  }
}

export const exchange = new Exchange();

export default createServer({
  name: 'guide-watching',
  version: '1.0.0',
  // #region watching
  resources: {
    'prices://{symbol}': resource({
      read: ({ symbol }) => exchange.price(symbol),
      onSubscribe: ({ symbol }, { uri, signal, changed }) =>
        exchange.watch(symbol, () => changed.resource(uri), signal),
      onUnsubscribe: (_values, { uri, log }) => log('info', `${uri} has no subscribers any more`),
    }),
  },
  // #endregion
  logger: () => undefined,
});
