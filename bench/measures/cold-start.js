import { once } from 'node:events';
import { withBefore } from '../before.js';
import { spawnStdio } from '../child.js';
import { lineLoad } from '../load/lines.js';
import { interleaved } from '../numbers.js';

/** The milliseconds from the start of a process to its first response. */
export function measureColdStart({ spawns, against }) {
  const names = ['floor', 'plain', 'zod', 'fullmcp', 'official'];
  const isOurs = (name) => name === 'plain' || name === 'fullmcp';
  const contenders = withBefore(names, against, isOurs).map(({ name, file, dist }) => [
    name,
    () => start(`stdio-${file}`, dist),
  ]);
  return interleaved(Object.fromEntries(contenders), spawns);
}

async function start(server, dist) {
  const from = performance.now();
  const child = spawnStdio(server, dist);
  await lineLoad(child).ask(1);
  const milliseconds = performance.now() - from;
  child.kill('SIGKILL');
  await once(child, 'exit');
  return { milliseconds };
}
