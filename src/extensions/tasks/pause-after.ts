const FIRST_MS = 100;

/** How long to wait after so many failures in a row: longer each time, and not everybody equally long. */
export function pauseAfter(failures: number, mostMs: number): number {
  const pause = Math.min(FIRST_MS * 2 ** Math.min(failures - 1, 20), mostMs);
  return pause * (0.75 + Math.random() / 4);
}
