import { type Signal, signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { every } from '../../src/async/every.js';

const STEP_MS = 200;

/** The time, for clocks that run. It stands still while no part of the page needs it. */
export const now: Signal<number> = signal(Date.now());

let users = 0;
let stop: (() => void) | undefined;

/** Keeps `now` going while `isNeeded`. */
export function useClock(isNeeded: boolean): void {
  useEffect(() => {
    if (!isNeeded) return;
    users += 1;
    now.value = Date.now();
    stop ??= every(STEP_MS, () => {
      now.value = Date.now();
    });
    return () => {
      users -= 1;
      if (users > 0) return;
      stop?.();
      stop = undefined;
    };
  }, [isNeeded]);
}
