// Waits for an AbortSignal. All waiters share one listener.

type Listener = () => void;

/** The waiters of each signal. Node warns of a leak if a signal has more than ten listeners, and groups may need more. */
const waiting = new WeakMap<AbortSignal, Waiting>();

interface Waiting {
  readonly listeners: Set<Listener>;
  readonly abort: Listener;
}

/** Calls `listener` when a signal aborts, unless the returned function was called before. All waiters share one listener. */
export function onAbort(signal: AbortSignal, listener: Listener): () => void {
  const { listeners, abort } = waiting.get(signal) ?? attach(signal);
  // The same function may be added twice.
  const own: Listener = () => listener();
  listeners.add(own);
  return () => {
    if (!listeners.delete(own) || listeners.size > 0) return;
    waiting.delete(signal);
    signal.removeEventListener('abort', abort);
  };
}

function attach(signal: AbortSignal): Waiting {
  const listeners = new Set<Listener>();
  const abort: Listener = () => {
    waiting.delete(signal);
    for (const listener of listeners) listener();
  };
  const attached = { listeners, abort };
  waiting.set(signal, attached);
  signal.addEventListener('abort', abort, { once: true });
  return attached;
}

/** Settles as `promise` does, or rejects with the signal's reason if the signal aborts first. A later outcome is ignored. */
export function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason);
    if (signal.aborted) stop();
    const forget = signal.aborted ? undefined : onAbort(signal, stop);
    void promise.then(resolve, reject).finally(forget);
  });
}
