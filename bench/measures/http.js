import { withBefore } from '../before.js';
import { startServer } from '../child.js';
import { knowsFallbacks } from '../fullmcp.js';
import { runLoad } from '../load/http.js';
import { sessionPost, startSession } from '../load/session.js';
import { interleaved } from '../numbers.js';
import { ableCall, call, modernPost } from '../request.js';

const CONNECTIONS = 16;
/** The contenders whose client has tasks and forms, so that it needs no fallbacks. */
const ABLE = ['fullmcpAble', 'fullmcpFallbacks'];
const servers = {
  floor: ['http-floor', 1],
  fullmcp: ['http-fullmcp', 1],
  fullmcp50: ['http-fullmcp', 50],
  fullmcpSession: ['http-fullmcp', 1],
  fullmcpAble: ['http-fullmcp', 1],
  fullmcpFallbacks: ['http-fallbacks', 1],
  official: ['http-official', 1],
  official50: ['http-official', 50],
};

/** The contenders, without those that the other build cannot run. */
async function contenders(only, against) {
  const all = withBefore(only, against);
  if (against === undefined || (await knowsFallbacks(against))) return all;
  console.log(`The build before is measured without \`fallbacks\`, which it does not know.`);
  return all.filter(({ file, dist }) => dist === undefined || file !== 'fullmcpFallbacks');
}

/** The requests per second, and per second of CPU time of the server. */
export async function measureHttp({ rounds, roundMs, warmUpMs, against, only = Object.keys(servers) }) {
  const running = await Promise.all(
    (await contenders(only, against)).map(async ({ name, file, dist }) => {
      const [script, tools] = servers[file];
      const server = await startServer(script, { args: [String(tools)], dist });
      const { port } = server;
      const request = file.endsWith('Session')
        ? sessionPost(port, await startSession(port))
        : modernPost(port, 'tools/call', ABLE.includes(file) ? ableCall : call);
      return { name, server, request };
    }),
  );
  for (const one of running) await loadRound(one, warmUpMs);
  const figures = await interleaved(
    Object.fromEntries(running.map((one) => [one.name, () => loadRound(one, roundMs)])),
    rounds,
  );
  for (const { server } of running) await server.stop();
  return figures;
}

/** One round: the requests per second of wall time and of CPU time, and the share of a core that each side has used. */
export async function loadRound({ server, request }, ms) {
  const load = { port: server.port, request, connections: CONNECTIONS, ms };
  const cpu = async () => ({ server: await server.ask({ what: 'cpu' }), client: process.cpuUsage() });
  const { answers, ms: took, before, after } = await runLoad(load, cpu);
  const cpuMs = spent(before.server, after.server);
  return {
    perSecond: (answers / took) * 1000,
    perCpuSecond: (answers / cpuMs) * 1000,
    // Shares of a core. The busier side limits the other; it should be the server.
    serverBusy: cpuMs / took,
    clientBusy: spent(before.client, after.client) / took,
  };
}

function spent(before, after) {
  return (after.user + after.system - before.user - before.system) / 1000;
}
