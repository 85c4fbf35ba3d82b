/** Runs `work` in the next turn of the event loop, after pending I/O. */
export function nextTurn(work: () => void): void {
  const { setImmediate } = globalThis as { setImmediate?: (work: () => void) => void };
  if (setImmediate === undefined) setTimeout(work);
  else setImmediate(work);
}
