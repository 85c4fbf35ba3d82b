export function atNextTurn(work: () => void): void {
  const { setImmediate } = globalThis as { setImmediate?: (work: () => void) => void };
  if (setImmediate === undefined) setTimeout(work);
  else setImmediate(work);
}
