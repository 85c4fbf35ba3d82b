import { onAbort } from '../../../async/abort.js';
import { unref } from '../../../async/unref.js';

/** The most subscriptions of one host that a process delivers at the same time: a slow host must not take the room of the others. */
const MAX_PER_HOST = 32;
/** The subscriptions that wait for their hosts in a process, and for how long. Others are claimed again later. */
const MAX_WAITING = 512;
const WAIT_MS = 2000;

/** The deliveries to a host. */
interface Busy {
  running: number;
  /** Those that wait, the first one first. */
  readonly waiting: Set<() => void>;
}

/** Counts the deliveries to each host that are under way in this process. */
export class BusyHosts {
  readonly #busy = new Map<string, Busy>();
  #waiting = 0;

  /** Begins a delivery. Returns the function that ends it; undefined if the host has enough of them. */
  enter(host: string): (() => void) | undefined {
    const busy = this.#busy.get(host) ?? { running: 0, waiting: new Set() };
    if (busy.running >= MAX_PER_HOST) return undefined;
    this.#busy.set(host, busy);
    busy.running++;
    return () => this.#leave(host, busy);
  }

  /** Begins a delivery as soon as the host has room. Resolves with undefined if that takes too long. */
  async wait(host: string, signal: AbortSignal): Promise<(() => void) | undefined> {
    const entered = this.enter(host);
    const busy = this.#busy.get(host);
    if (entered !== undefined || busy === undefined || this.#waiting >= MAX_WAITING || signal.aborted)
      return entered;
    this.#waiting++;
    try {
      return await new Promise((resolve) => {
        const end = (leave: (() => void) | undefined): void => {
          busy.waiting.delete(next);
          clearTimeout(timer);
          forget();
          resolve(leave);
        };
        const next = (): void => end(() => this.#leave(host, busy));
        const timer = setTimeout(() => end(undefined), WAIT_MS);
        unref(timer);
        const forget = onAbort(signal, () => end(undefined));
        busy.waiting.add(next);
      });
    } finally {
      this.#waiting--;
    }
  }

  /** Gives the place of a delivery that has ended to the one that has waited longest. */
  #leave(host: string, busy: Busy): void {
    const [next] = busy.waiting;
    if (next !== undefined) return next();
    busy.running--;
    if (busy.running === 0) this.#busy.delete(host);
  }
}
