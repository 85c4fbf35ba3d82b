import { unref } from '../../../../async/unref.js';

/** The time between two checks. Revoked tokens are in the caches of other processes about as long. */
const CHECK_MS = 60_000;

/**
 * Checks again and again whether the credentials of an open stream or connection are valid, and calls `onEnd` once when they are not.
 * A check that fails says nothing. Returns the function that stops.
 */
export function watchCredentials(
  isStillValid: () => boolean | Promise<boolean>,
  onEnd: () => void,
): () => void {
  let timer: ReturnType<typeof setTimeout>;
  let isStopped = false;
  const wait = (): void => {
    // Streams that were opened together, after a restart, must not be checked together.
    timer = setTimeout(look, CHECK_MS * (0.75 + Math.random() / 2));
    unref(timer);
  };
  const look = async (): Promise<void> => {
    if (isStopped) return;
    const isValid = await Promise.resolve()
      .then(isStillValid)
      .catch(() => true);
    if (isStopped) return;
    if (isValid) wait();
    else onEnd();
  };
  wait();
  return () => {
    isStopped = true;
    clearTimeout(timer);
  };
}
