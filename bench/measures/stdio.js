import { withBefore } from '../before.js';
import { spawnStdio } from '../child.js';
import { lineLoad } from '../load/lines.js';
import { interleaved } from '../numbers.js';

const WINDOW = 1000;

/** The microseconds of a message: one at a time, and with a thousand in flight. */
export async function measureStdio({ rounds, sequential, windows, against }) {
  const running = withBefore(['floor', 'fullmcp', 'official'], against).map(({ name, file, dist }) => {
    const child = spawnStdio(`stdio-${file}`, dist);
    return { name, child, load: lineLoad(child) };
  });
  for (const { load } of running) {
    await load.timed(sequential, 1);
    await load.timed(windows, WINDOW);
  }
  const figures = await interleaved(
    Object.fromEntries(
      running.map(({ name, load }) => [
        name,
        async () => ({
          sequential: await load.timed(sequential, 1),
          pipelined: await load.timed(windows, WINDOW),
        }),
      ]),
    ),
    rounds,
  );
  for (const { child } of running) child.kill('SIGKILL');
  return figures;
}
