/**
 * How long a test waits for something that happens at once on an idle machine. On a busy one a process may take
 * ten times as long to start. It is shorter than the timeout of a test, so that the sentence is printed.
 */
const PATIENCE_MS = 30_000;

/** Waits until a condition holds; fails with a sentence that names it when that takes too long. */
export async function until(
  what: string,
  condition: () => boolean | Promise<boolean>,
  withinMs = PATIENCE_MS,
): Promise<void> {
  const deadline = Date.now() + withinMs;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`After ${withinMs} ms it still does not hold that ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** Fails with a sentence instead of waiting forever. */
export async function soon<T>(what: string, promise: Promise<T>, withinMs = PATIENCE_MS): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} did not come within ${withinMs} ms`)), withinMs);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
