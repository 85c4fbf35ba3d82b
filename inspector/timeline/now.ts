import { type Signal, signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';

const STEP_MS = 200;

/** The time, for clocks that run. It stands still while no part of the page needs it. */
export const now: Signal<number> = signal(Date.now());

let users = 0;
let timer: ReturnType<typeof setInterval> | undefined;

/** Keeps `now` going while `isNeeded`. */
export function useClock(isNeeded: boolean): void {
  useEffect(() => {
    if (!isNeeded) return;
    users += 1;
    now.value = Date.now();
    timer ??= setInterval(() => {
      now.value = Date.now();
    }, STEP_MS);
    return () => {
      users -= 1;
      if (users > 0) return;
      clearInterval(timer);
      timer = undefined;
    };
  }, [isNeeded]);
}
