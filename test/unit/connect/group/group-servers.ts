import { createClient } from '../../../../src/client/create-client.js';
import type { Client } from '../../../../src/client/model/client.js';
import { type ConnectOne, connectGroup, type GroupClient } from '../../../../src/connect/group/group.js';
import type { ConnectOptions } from '../../../../src/connect/targets/options.js';
import type { ServerObject, Target } from '../../../../src/connect/targets/target.js';
import { createServer, type Server, tool } from '../../../../src/index.js';
import { dispatchLink } from '../../../../src/transports/memory/link.js';

/** A server with a tool for each name, which answers with the server's name and its own. */
export function serverWith(name: string, ...tools: readonly string[]): Server {
  const entries = tools.map((own) => [own, tool({ run: () => `${name}.${own}` })]);
  return createServer({
    name,
    version: '1',
    changes: true,
    tools: Object.fromEntries(entries) as object,
  }) as unknown as Server;
}

export interface TestGroup {
  readonly group: GroupClient;
  /** The servers that were connected, in order. */
  readonly connected: readonly Target[];
  readonly problems: readonly string[];
}

/** A group of servers in this process, with a record of the servers that were connected. */
export async function groupOf(
  targets: Readonly<Record<string, Target>>,
  options: ConnectOptions = {},
  connectOne: ConnectOne = inProcess,
): Promise<TestGroup & AsyncDisposable> {
  const connected: Target[] = [];
  const mcpServers = Object.fromEntries(
    Object.entries(targets).map(([name, target]) => [name, { target }] as const),
  );
  const group = await connectGroup({ mcpServers }, options, (target, memberOptions) => {
    connected.push(target);
    return connectOne(target, memberOptions);
  });
  const problems: string[] = [];
  group.on('problem', ({ message }) => problems.push(message));
  return { group, connected, problems, [Symbol.asyncDispose]: () => group.close() };
}

export const inProcess: ConnectOne = (target, options): Promise<Client> =>
  createClient({
    open: (_events, open) => dispatchLink((target as ServerObject).dispatch, { open }),
    target: 'in-process',
    options,
    signal: options.signal,
  });

export async function namesOf(list: AsyncIterable<{ readonly name: string }>): Promise<readonly string[]> {
  const names: string[] = [];
  for await (const { name } of list) names.push(name);
  return names;
}
