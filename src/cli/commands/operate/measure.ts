// Sends many requests, at most so many and for at most so long, and keeps the time of each.

export interface Load {
  readonly requests: number;
  readonly concurrency: number;
  readonly longestMs: number;
  readonly signal: AbortSignal;
}

export interface Measured {
  /** The milliseconds of each request that ended in time, from the shortest to the longest. */
  readonly times: readonly number[];
  /** Of these, the requests that failed, by the code of the failure. */
  readonly failures: ReadonlyMap<string, number>;
  /** The first failure in words. */
  readonly firstFailure: string | undefined;
  readonly seconds: number;
}

/** A request: resolves with undefined, or with the reason if the tool answered with an error. */
export type SendOne = (signal: AbortSignal) => Promise<string | undefined>;

/** Sends requests until there were enough, or the time is over. Those that are open then are cancelled, and do not count. */
export async function measure(
  { requests, concurrency, longestMs, signal }: Load,
  send: SendOne,
): Promise<Measured> {
  const end = AbortSignal.any([signal, AbortSignal.timeout(longestMs)]);
  const times: number[] = [];
  const failures = new Map<string, number>();
  let [started, firstFailure] = [0, undefined as string | undefined];
  const begin = performance.now();
  let lastEnd = begin;

  const work = async (): Promise<void> => {
    while (started < requests && !end.aborted) {
      started += 1;
      const start = performance.now();
      const failure = await send(end).then(
        (reason) => (reason === undefined ? undefined : (['tool_failed', reason] as const)),
        (error: { code?: unknown; message?: unknown }) =>
          [String(error.code ?? 'failed'), String(error.message ?? error)] as const,
      );
      if (end.aborted) return;
      lastEnd = performance.now();
      times.push(lastEnd - start);
      if (failure === undefined) continue;
      failures.set(failure[0], (failures.get(failure[0]) ?? 0) + 1);
      firstFailure ??= failure[1];
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, requests) }, work));
  signal.throwIfAborted();
  return {
    times: times.sort((a, b) => a - b),
    failures,
    firstFailure,
    seconds: (lastEnd - begin) / 1000,
  };
}

/** The time that a share of all requests did not exceed, with three digits after the point. */
export function percentile(times: readonly number[], share: number): number {
  const at = Math.min(times.length - 1, Math.max(0, Math.ceil(times.length * share) - 1));
  return rounded(times[at] ?? 0);
}

export function rounded(number: number): number {
  return Number(number.toFixed(3));
}
