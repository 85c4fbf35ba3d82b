import process from 'node:process';

const signals = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;
const PARENT_CHECK_MS = 500;

/**
 * Calls back once, when the client is gone in whichever way: end of input, a broken output, a signal, or a parent that died
 * without any of those. Returns the function that stops watching.
 */
export function onClientGone(gone: (why: string) => void): () => void {
  const { stdin, stdout } = process;
  const parent = process.ppid;
  let over = false;

  function leave(why: string): void {
    if (over) return;
    stop();
    gone(why);
  }

  const ended = (): void => leave('the input has ended');
  const broken = (error: NodeJS.ErrnoException): void =>
    leave(`the output is broken (${error.code ?? error.message})`);
  const handlers = signals.map((signal) => [signal, (): void => leave(signal)] as const);
  // An orphan is given a new parent. Where input is inherited by others too, its end never comes.
  const timer = setInterval(() => {
    if (process.ppid !== parent) leave('the parent process is gone');
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
