type Timer = ReturnType<typeof setTimeout> | ReturnType<typeof setInterval>;

/**
 * Lets the process end although the timer is set: tidying up is not a reason to stay. Returns false if timers are plain numbers,
 * as in browsers and on Workers; nothing has to be done there.
 */
export function unref(timer: Timer): boolean {
  if (typeof timer !== 'object' || !('unref' in timer)) return false;
  (timer as { unref(): void }).unref();
  return true;
}
