import { withBefore } from '../before.js';
import { startClient, startServer } from '../child.js';
import { interleaved } from '../numbers.js';

const contenders = {
  http: ['floor', 'fetch', 'fullmcp', 'official'],
  stdio: ['floor', 'fullmcp', 'official'],
};
/** How many calls are open at the same time: one, and as many as in a busy program. */
const windows = { sequential: 1, busy: 32 };

/** The microseconds of a client's call, in wall-clock and in CPU time, over HTTP and over stdio. */
export async function measureClient({ rounds, calls, against }) {
  const server = await startServer('http-fullmcp');
  const figures = {};
  for (const wire of ['http', 'stdio']) {
    const running = await Promise.all(
      withBefore(contenders[wire], against).map(async ({ name, file, dist }) => ({
        name,
        client: await startClient(`${wire}-${file}`, { args: [String(server.port)], dist }),
      })),
    );
    const run = async ({ client }, window) => client.ask({ what: 'run', calls, window });
    for (const one of running) await run(one, windows.busy);
    figures[wire] = await interleaved(
      Object.fromEntries(
        running.map((one) => [
          one.name,
          async () => {
            const sequential = await run(one, windows.sequential);
            const busy = await run(one, windows.busy);
            return {
              sequential: sequential.wall,
              sequentialCpu: sequential.cpu,
              busy: busy.wall,
              busyCpu: busy.cpu,
            };
          },
        ]),
      ),
      rounds,
    );
    for (const { client } of running) await client.stop();
  }
  await server.stop();
  return { ...figures, medians: { http: figures.http.medians, stdio: figures.stdio.medians } };
}
