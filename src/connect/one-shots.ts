import type {
  CallResult,
  Client,
  PromptResult,
  ReadResult,
  ServerFacts,
  ToolCallOptions,
} from '../client/model.js';
import type { CallOptions } from '../client/options.js';
import type { ListedTool } from '../protocol/model.js';
import type { ConnectOptions } from './options.js';
import type { Target } from './target.js';

export interface OneShotOptions extends ConnectOptions, CallOptions {}

/** Connects, does one thing, and closes, whatever comes of it. Without a target, MCP_SERVER_URL names it. */
export interface OneShots {
  readonly withClient: <T>(
    target: Target | undefined,
    use: (client: Client) => T | Promise<T>,
    options?: ConnectOptions,
  ) => Promise<T>;
  readonly callTool: (
    target: Target | undefined,
    name: string,
    args?: object,
    options?: OneShotOptions & ToolCallOptions,
  ) => Promise<CallResult>;
  readonly listTools: (
    target: Target | undefined,
    options?: OneShotOptions,
  ) => Promise<readonly ListedTool[]>;
  readonly readResource: (
    target: Target | undefined,
    uri: string,
    options?: OneShotOptions,
  ) => Promise<ReadResult>;
  readonly getPrompt: (
    target: Target | undefined,
    name: string,
    args?: Readonly<Record<string, string>>,
    options?: OneShotOptions,
  ) => Promise<PromptResult>;
  readonly serverInfo: (target?: Target, options?: ConnectOptions) => Promise<ServerFacts>;
}

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
  return {
    withClient,
    callTool: (target, name, args, options) =>
      withClient(target, (client) => client.callTool(name, args, options), options),
    listTools: (target, options) => withClient(target, (client) => client.tools(options).all(), options),
    readResource: (target, uri, options) =>
      withClient(target, (client) => client.readResource(uri, options), options),
    getPrompt: (target, name, args, options) =>
      withClient(target, (client) => client.getPrompt(name, args, options), options),
    serverInfo: (target, options) => withClient(target, (client) => client.server, options),
  };
}
