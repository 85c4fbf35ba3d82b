import { unref } from './unref.js';

/** The longest wait between two looks at the clock, which may be set in the meantime. Far below the limit of a timer. */
const LOOK_MS = 60_000;

/** Calls `listener` once at a time by the clock of the machine, in milliseconds since 1970. Returns the function that prevents it. */
export function callAt(time: number, listener: () => void): () => void {
  let timer: ReturnType<typeof setTimeout>;
  const look = (): void => {
    const left = time - Date.now();
    if (left <= 0) return listener();
    wait(left);
  };
  const wait = (left: number): void => {
    timer = setTimeout(look, Math.min(Math.max(left, 1), LOOK_MS));
    unref(timer);
  };
  // Never at once: the caller does not have the returned function yet.
  wait(time - Date.now());
  return () => clearTimeout(timer);
}
