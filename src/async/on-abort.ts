type Listener = () => void;

/** What waits for each signal. Node warns of a leak where more than ten listen to one, and a group of servers is more than ten. */
const waiting = new WeakMap<AbortSignal, Waiting>();

interface Waiting {
  readonly listeners: Set<Listener>;
  readonly abort: Listener;
}

/** Calls `listener` when a signal aborts, unless the function that is returned was called before. All share one listener. */
export function onAbort(signal: AbortSignal, listener: Listener): () => void {
  const { listeners, abort } = waiting.get(signal) ?? attach(signal);
  // The same function may wait twice.
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
