/** The most subscriptions of one host that a process delivers at the same time: a slow host must not take the room of the others. */
const MAX_PER_HOST = 32;

/** Counts the deliveries to each host that are under way in this process. */
export class BusyHosts {
  readonly #busy = new Map<string, number>();

  /** Begins a delivery. Returns the function that ends it; undefined if the host has enough of them. */
  enter(host: string): (() => void) | undefined {
    const before = this.#busy.get(host) ?? 0;
    if (before >= MAX_PER_HOST) return undefined;
    this.#busy.set(host, before + 1);
    return () => {
      const left = (this.#busy.get(host) ?? 1) - 1;
      if (left > 0) this.#busy.set(host, left);
      else this.#busy.delete(host);
    };
  }
}
