// A server that others find over NATS.
import { createServer, listServices, type ServiceInstance, tool } from 'fullmcp';
import { type Client, connect } from 'fullmcp/client';
import { natsDiscovery, serveNats } from 'fullmcp/nats';

const weather = createServer({
  name: 'weather',
  version: '1.0.0',
  tools: { forecast: tool({ description: 'The weather of tomorrow', run: () => 'Sunny' }) },
});

// #region serve
/** Any number of processes may serve one name: each call goes to one of them. */
export async function serveWeather(url: string): Promise<Awaited<ReturnType<typeof serveNats>>> {
  return serveNats(weather, { url }); // 'nats://localhost:4222'
}
// #endregion

// #region connect
/** The address of NATS, and the name of the service as its path. */
export function byAddress(): Promise<Client> {
  return connect('nats://localhost:4222/weather');
}

/** Several services over one connection to NATS. The service may start later than this program. */
export async function byName(url: string): Promise<{ client: Client; all: readonly ServiceInstance[] }> {
  const discovery = natsDiscovery({ url });
  const client = await connect({ service: 'weather', discovery, waitMs: 10_000 });
  return { client, all: await listServices({ discovery }) };
}
// #endregion
