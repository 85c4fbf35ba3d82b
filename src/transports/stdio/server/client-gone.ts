import process from 'node:process';

const signals = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;
const PARENT_CHECK_MS = 500;

/** `finished`: it says nothing more, but may still read answers. `lost`: nobody is there to read them. */
export type Gone = 'finished' | 'lost';

/**
 * Calls back once, when the client is gone in whichever way: end of input, a broken output, a signal, or a parent that died
 * without any of those. Returns the function that stops watching: until then signals do not end the process, so that one which
 * follows the end of the input does not cut the closing short.
 */
export function onClientGone(gone: (why: Gone) => void): () => void {
  const { stdin, stdout } = process;
  const parent = process.ppid;
  let over = false;

  function leave(why: Gone): void {
    if (over) return;
    over = true;
    gone(why);
  }

  const ended = (): void => leave('finished');
  const broken = (): void => leave('lost');
  const handlers = signals.map((signal) => [signal, ended] as const);
  // An orphan is given a new parent. Where input is inherited by others too, its end never comes.
  const timer = setInterval(() => {
    if (process.ppid !== parent) leave('lost');
  }, PARENT_CHECK_MS);
  timer.unref();

  stdin.on('end', ended).on('close', ended).on('error', ended);
  stdout.on('error', broken);
  for (const [signal, handler] of handlers) process.on(signal, handler);

  function stop(): void {
    over = true;
    clearInterval(timer);
    stdin.off('end', ended).off('close', ended).off('error', ended);
    // The listener for a broken output stays: without one, the next write would crash the process.
    for (const [signal, handler] of handlers) process.off(signal, handler);
  }

  return stop;
}
