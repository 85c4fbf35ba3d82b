import { createServer } from 'fullmcp';
import { type Client, connect } from 'fullmcp/client';
import { quickjs } from 'fullmcp/code';
import { gateway } from 'fullmcp/gateway';
import { toTools } from 'fullmcp/tools';
import { tools } from './server.js';

const server = createServer({ name: 'billing', version: '1.0.0', tools });
/** Two servers. Those of your own are programs or URLs. */
const config = { mcpServers: { billing: { target: server }, archive: { target: server } } };

// #region client
/** The tools of all servers as two tools for Claude. Programs run in this process. */
export async function programTools(client: Client) {
  const code = await client.code({ engine: quickjs(), approve: 'destructive' });
  return toTools(code, 'anthropic');
}
// #endregion

/** A client of both servers, whose user agrees. */
export function connectAll(): Promise<Client> {
  return connect(config, { elicit: () => ({ action: 'accept', content: { approve: true } }) });
}

// #region gateway
export const hub = gateway(config, { code: { engine: quickjs() } });
// #endregion
