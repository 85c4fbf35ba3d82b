// Functions that connect, do one thing, and close.

import { checkOptionsOf } from '../client/checks/check-options.js';
import { callTable } from '../client/checks/option-tables.js';
import type {
  CallResult,
  Client,
  PromptResult,
  ReadResult,
  ServerFacts,
  ToolCallOptions,
} from '../client/model/client.js';
import type { ListedTool } from '../protocol/model/model.js';
import { connectTable, oneShotTable, pickOptions } from './targets/option-tables.js';
import type { ConnectOptions, OneShotOptions } from './targets/options.js';
import type { Target } from './targets/target.js';

/**
 * Functions that connect, do one thing, and close, even if it fails. Without a target, the environment variable
 * MCP_SERVER_URL names the server.
 */
export interface OneShots {
  /** Connects, runs `use` with the client, and closes the client, even if `use` throws. A lost connection is not reopened. */
  readonly withClient: <T>(
    target: Target | undefined,
    use: (client: Client) => T | Promise<T>,
    options?: ConnectOptions,
  ) => Promise<T>;
  /** Connects, calls one tool, and closes. A failure of the tool itself is a result with `isError`; `unwrap` throws it. */
  readonly callTool: (
    target: Target | undefined,
    name: string,
    args?: object,
    options?: OneShotOptions,
  ) => Promise<CallResult>;
  /** Connects, lists all tools, and closes. */
  readonly listTools: (
    target: Target | undefined,
    options?: OneShotOptions,
  ) => Promise<readonly ListedTool[]>;
  /** Connects, reads one resource, and closes. */
  readonly readResource: (
    target: Target | undefined,
    uri: string,
    options?: OneShotOptions,
  ) => Promise<ReadResult>;
  /** Connects, gets one prompt, and closes. */
  readonly getPrompt: (
    target: Target | undefined,
    name: string,
    args?: Readonly<Record<string, string>>,
    options?: OneShotOptions,
  ) => Promise<PromptResult>;
  /** Connects, reads the server's description of itself (name, capabilities, instructions and revision), and closes. */
  readonly serverInfo: (target?: Target, options?: ConnectOptions) => Promise<ServerFacts>;
}

// The client's own `onLog` receives the messages of the call, too: with both, each message would be reported twice.
const { onLog: _, ...tableOfCall } = callTable;

export function makeOneShots(
  connect: (target?: Target, options?: ConnectOptions) => Promise<Client>,
): OneShots {
  const withClient: OneShots['withClient'] = async (target, use, options) => {
    const client = await connect(target, { ...options, reconnect: false });
    try {
      return await use(client);
    } finally {
      await client.close();
    }
  };

  // One object has the options of the connection and those of the call; each gets only its own.
  async function once<T>(
    functionName: string,
    target: Target | undefined,
    options: OneShotOptions,
    use: (client: Client, call: ToolCallOptions) => Promise<T>,
  ): Promise<T> {
    await checkOptionsOf(functionName, options, oneShotTable);
    const own = pickOptions(options, tableOfCall);
    return withClient(target, (client) => use(client, own), pickOptions(options, connectTable));
  }

  return {
    withClient,
    callTool: (target, name, args, options = {}) =>
      once('callTool', target, options, (client, call) => client.callTool(name, args, call)),
    listTools: (target, options = {}) =>
      once('listTools', target, options, (client, call) => client.tools(call).all()),
    readResource: (target, uri, options = {}) =>
      once('readResource', target, options, (client, call) => client.readResource(uri, call)),
    getPrompt: (target, name, args, options = {}) =>
      once('getPrompt', target, options, (client, call) => client.getPrompt(name, args, call)),
    serverInfo: (target, options) => withClient(target, async (client) => client.server, options),
  };
}
