import { startServer } from '../child.js';
import { interleaved } from '../numbers.js';

const calls = { fullmcp: 20_000, client: 10_000, official: 500 };

/** Microseconds a call takes inside one process. */
export async function measureInProcess({ rounds }) {
  const running = await Promise.all(
    Object.keys(calls).map(async (name) => ({ name, server: await startServer(`in-process-${name}`) })),
  );
  const run = ({ name, server }) => server.ask({ what: 'run', calls: calls[name] });
  for (const one of running) await run(one);
  const figures = await interleaved(
    Object.fromEntries(running.map((one) => [one.name, async () => ({ microseconds: await run(one) })])),
    rounds,
  );
  for (const { server } of running) await server.stop();
  return figures;
}
