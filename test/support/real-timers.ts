import { afterAll, vi } from 'vitest';

// Files share their process. One that leaves fake timers behind would stop the clock of those that follow, so it fails itself. Often a
// spy on a fake timer is to blame, which brings the fake one back when it is restored after `vi.useRealTimers()`. Variables and globals
// that the last test of a file has replaced would still be there while the next file is loaded, which may start its servers then.

const NAMES = [
  'setTimeout',
  'clearTimeout',
  'setInterval',
  'clearInterval',
  'setImmediate',
  'clearImmediate',
  'Date',
] as const;
const real = NAMES.map((name) => [name, globalThis[name]] as const);

afterAll(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
  vi.useRealTimers();
  const left = real.filter(([name, timer]) => globalThis[name] !== timer);
  Object.assign(globalThis, Object.fromEntries(left));
  if (left.length > 0)
    throw new Error(`The file leaves these behind: ${left.map(([name]) => name).join(', ')}.`);
});
