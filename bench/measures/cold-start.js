import { once } from 'node:events';
import { spawnStdio } from '../child.js';
import { lineLoad } from '../load/lines.js';
import { interleaved } from '../numbers.js';

/** Milliseconds from the start of a process to its first answer. */
export function measureColdStart({ spawns }) {
  const names = ['floor', 'plain', 'zod', 'fullmcp', 'official'];
  return interleaved(Object.fromEntries(names.map((name) => [name, () => start(`stdio-${name}`)])), spawns);
}

async function start(server) {
  const from = performance.now();
  const child = spawnStdio(server);
  await lineLoad(child).ask(1);
  const milliseconds = performance.now() - from;
  child.kill('SIGKILL');
  await once(child, 'exit');
  return { milliseconds };
}
