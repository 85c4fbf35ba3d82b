import { withBefore } from '../before.js';
import { startServer } from '../child.js';
import { interleaved } from '../numbers.js';

const calls = { floor: 20_000, fullmcp: 20_000, client: 10_000, official: 500 };

/** The microseconds of a call inside one process. */
export async function measureInProcess({ rounds, against }) {
  const isOurs = (name) => name === 'fullmcp' || name === 'client';
  const running = await Promise.all(
    withBefore(Object.keys(calls), against, isOurs).map(async ({ name, file, dist }) => ({
      name,
      file,
      server: await startServer(`in-process-${file}`, { dist }),
    })),
  );
  const run = ({ file, server }) => server.ask({ what: 'run', calls: calls[file] });
  for (const one of running) await run(one);
  const figures = await interleaved(
    Object.fromEntries(running.map((one) => [one.name, async () => ({ microseconds: await run(one) })])),
    rounds,
  );
  for (const { server } of running) await server.stop();
  return figures;
}
