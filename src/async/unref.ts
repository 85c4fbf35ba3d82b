type Timer = ReturnType<typeof setTimeout> | ReturnType<typeof setInterval>;

/**
 * Lets the process exit while the timer is still set. Returns false if timers are plain numbers, as in browsers and on Workers,
 * where nothing has to be done.
 */
export function unref(timer: Timer): boolean {
  if (typeof timer !== 'object' || !('unref' in timer)) return false;
  (timer as { unref(): void }).unref();
  return true;
}
