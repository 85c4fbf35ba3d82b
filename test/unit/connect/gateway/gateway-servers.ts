import { createServer, type Server } from 'fullmcp';
import { type Client, connect } from 'fullmcp/client';
import { type GatewayOptions, gateway } from 'fullmcp/gateway';
import { onTestFinished } from 'vitest';
import type { Gateway } from '../../../../src/connect/gateway/make-gateway.js';
import type { Target } from '../../../../src/connect/targets/target.js';

/** A server that says nothing, with these definitions. */
export function serverWith(parts: object): Server {
  const common = { name: 'a server', version: '1', changes: true, logger: () => undefined };
  return createServer({ ...common, ...parts } as never) as unknown as Server;
}

export interface TestGateway {
  readonly hub: Gateway;
  readonly client: Client;
  /** The messages for the operator. */
  readonly log: readonly string[];
}

/** A gateway to servers in this process, with a client. */
export async function gatewayTo(
  targets: Readonly<Record<string, Target>>,
  options: GatewayOptions = {},
): Promise<TestGateway> {
  const log: string[] = [];
  const hub = gateway(configOf(targets), { logger: (_level, message) => log.push(message), ...options });
  onTestFinished(() => hub.close());
  const client = await connect(hub);
  onTestFinished(() => client.close());
  return { hub, client, log };
}

export function configOf(targets: Readonly<Record<string, Target>>) {
  return {
    mcpServers: Object.fromEntries(Object.entries(targets).map(([name, target]) => [name, { target }])),
  };
}

export async function toolNames(client: Client): Promise<readonly string[]> {
  return (await client.tools().all()).map(({ name }) => name);
}

/** The text of a tool's result. */
export async function textOf(client: Client, name: string, args: object = {}): Promise<string> {
  const result = (await client.callTool(name, args)) as unknown as { content: { text: string }[] };
  return result.content[0]?.text ?? '';
}
