type Timer = ReturnType<typeof setTimeout> | ReturnType<typeof setInterval>;

/**
 * Keeps a timer from keeping the process alive: what only tidies up is no reason to go on. False where timers are plain
 * numbers, as in browsers and on Workers, and nothing has to be done.
 */
export function idle(timer: Timer): boolean {
  if (typeof timer !== 'object' || !('unref' in timer)) return false;
  (timer as { unref(): void }).unref();
  return true;
}
