import process from 'node:process';

const ENDING = ['SIGTERM', 'SIGHUP'] as const;

/** Runs `work` with a signal that aborts also when the process is told to end, which then does not end it by itself. */
export async function withSignals(
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const told = new AbortController();
  const stop = (): void => told.abort();
  for (const name of ENDING) process.on(name, stop);
  try {
    await work(AbortSignal.any([signal, told.signal]));
  } finally {
    for (const name of ENDING) process.off(name, stop);
  }
}
