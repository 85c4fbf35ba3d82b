import { every } from '../../../async/every.js';

const signals = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;
const PARENT_CHECK_MS = 500;

/** `finished`: the client sends nothing more, but may still read responses. `lost`: it does not read them either. */
export type GoneReason = 'finished' | 'lost';

/**
 * Calls back once, when the client is gone: at the end of the input, on a broken output, on a signal, or when the parent process
 * has died. Returns the function that stops watching. Until then signals do not end the process, so that a signal after the end
 * of the input does not interrupt the closing.
 */
export function onClientGone(listener: (why: GoneReason) => void): () => void {
  const { stdin, stdout } = process;
  const parent = process.ppid;
  let isOver = false;

  function leave(why: GoneReason): void {
    if (isOver) return;
    isOver = true;
    listener(why);
  }

  const onEnd = (): void => leave('finished');
  const onBroken = (): void => leave('lost');
  // An orphan gets a new parent. If other processes have inherited the input too, it never ends.
  const stopChecking = every(PARENT_CHECK_MS, () => {
    if (process.ppid !== parent) leave('lost');
  });

  stdin.on('end', onEnd).on('close', onEnd).on('error', onEnd);
  stdout.on('error', onBroken);
  for (const signal of signals) process.on(signal, onEnd);

  function stop(): void {
    isOver = true;
    stopChecking();
    stdin.off('end', onEnd).off('close', onEnd).off('error', onEnd);
    // The listener for a broken output stays: without one, the next write would crash the process.
    for (const signal of signals) process.off(signal, onEnd);
  }

  return stop;
}
