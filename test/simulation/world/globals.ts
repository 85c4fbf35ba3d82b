// Replaces the clocks, timers and random numbers of this process by simulated ones.

import { simulatedCrypto } from './crypto.js';
import type { Random } from './random.js';
import type { Event, Scheduler } from './scheduler.js';

/** The wall clock at the begin of every simulation. */
const EPOCH = Date.UTC(2030, 0, 1);
/** The time until the next turn of an event loop. */
const TURN_MS = 0.01;

/** A timer of an actor, with the methods of a timer of Node. */
class SimulatedTimer {
  event: Event | undefined;

  unref(): this {
    return this;
  }

  ref(): this {
    return this;
  }
}

type Callback = (...args: unknown[]) => void;

/** Installs simulated globals. Returns a function that restores the real ones. */
export function installGlobals(scheduler: Scheduler, random: Random): () => void {
  const set = (run: Callback, ms: number, args: unknown[], every?: number): SimulatedTimer => {
    const timer = new SimulatedTimer();
    const actor = scheduler.current;
    const fire = (): void => {
      if (every !== undefined) timer.event = scheduler.after(every, actor, fire, true);
      run(...args);
    };
    timer.event = scheduler.after(ms, actor, fire, true);
    return timer;
  };
  const clear = (timer: unknown): void => {
    if (timer instanceof SimulatedTimer) timer.event?.cancel();
  };
  const simulated = {
    setTimeout: (run: Callback, ms = 1, ...args: unknown[]) => set(run, atLeastOne(ms), args),
    setInterval: (run: Callback, ms = 1, ...args: unknown[]) =>
      set(run, atLeastOne(ms), args, atLeastOne(ms)),
    setImmediate: (run: Callback, ...args: unknown[]) => set(run, TURN_MS, args),
    clearTimeout: clear,
    clearInterval: clear,
    clearImmediate: clear,
    crypto: simulatedCrypto(random),
    Date: simulatedDate(() => Math.floor(EPOCH + scheduler.now + scheduler.current.skewMs)),
  };
  const before = Object.entries(Object.getOwnPropertyDescriptors(globalThis)).filter(
    ([name]) => name in simulated,
  );
  const { random: randomNumber } = Math;
  for (const [name, value] of Object.entries(simulated))
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  Math.random = () => random.next();
  Object.defineProperty(performance, 'now', { value: () => scheduler.now, configurable: true });
  return () => {
    for (const [name, descriptor] of before) Object.defineProperty(globalThis, name, descriptor);
    Math.random = randomNumber;
    Reflect.deleteProperty(performance, 'now');
  };
}

/** A `Date` with this clock. */
function simulatedDate(now: () => number): DateConstructor {
  return class extends Date {
    constructor(...given: [] | [number | string | Date]) {
      super(given.length === 0 ? now() : given[0]);
    }

    static override now(): number {
      return now();
    }
  } as DateConstructor;
}

function atLeastOne(ms: number): number {
  return ms >= 1 ? Math.trunc(ms) : 1;
}
