import process from 'node:process';
import type { Command, Typed } from '../../command/definition.js';
import { usageError } from '../../command/failures.js';
import { TARGET_OPTIONS } from '../../target/options.js';
import type { LoadedServer } from '../project/serving/load-server.js';
import { oneServer } from '../project/serving/one-server.js';
import {
  isLoopbackHost,
  LISTEN_OPTIONS,
  type ListenAddress,
  listeningOf,
  serveOnNetwork,
  serveOnStdio,
} from '../project/serving/serve-server.js';

const KEY_VARIABLE = 'FULLMCP_PROXY_KEY';
const MIN_KEY_LENGTH = 32;

/** `fullmcp proxy`. */
export const proxy: Command = {
  usage: '<target | name=target | config.json …>',
  details:
    'For hosts that start programs and cannot open an address: serves on stdin and stdout, and ends when the host closes stdin. With --http,\nserves programs to clients that only know addresses: on this computer, or with --host and a key in FULLMCP_PROXY_KEY, which clients then\nsend as their token, on the network. One target is passed on as it is. Several, or a config, become one\nserver, whose tools and prompts have the name of their server as a prefix. Each target is started when it is first needed.',
  words: [1, 50],
  options: {
    ...TARGET_OPTIONS,
    ...LISTEN_OPTIONS,
    search: { type: 'boolean', help: 'offer search_tools and call_tool in place of all tools' },
    pin: {
      type: 'string',
      value: 'file',
      help: 'the lock file: definitions that are not as pinned are hidden; it is made if it does not exist',
    },
    login: { type: 'boolean', help: 'open a browser where a server asks for a login, and keep the tokens' },
    name: { type: 'string', value: 'name', help: 'the name of the server that is made of several' },
  },
  examples: [
    {
      line: 'fullmcp proxy https://example.com/mcp --login',
      says: 'A remote server for a host that only starts programs, with a login.',
    },
    {
      line: 'fullmcp proxy shop=https://example.com/mcp files=./files.ts --search',
      says: 'Two servers as one, with two tools that find and call all others.',
    },
    { line: 'fullmcp proxy mcp.json --pin mcp.lock.json', says: 'All servers of a config as one, pinned.' },
    {
      line: 'fullmcp proxy --http 8080 -- npx -y @modelcontextprotocol/server-everything',
      says: 'A program as a server at http://localhost:8080/mcp.',
    },
  ],
  json: '{ ok: true, url: string, port: number }, once it listens, only with --http or --ws; otherwise stdout belongs to the protocol',
  async run(input) {
    const listening = listeningOf(input);
    const address = listening && (await guarded(listening));
    const server = (await oneServer(input, await loginOf(input))) as LoadedServer;
    if (address === undefined) await serveOnStdio(server, input.signal);
    else await serveOnNetwork(server, address, input);
  },
};

/** Everybody who reaches the proxy uses the servers behind it as the user does, so that other computers need a key. */
async function guarded({ host = '127.0.0.1', ...listening }: ListenAddress): Promise<ListenAddress> {
  const key = process.env[KEY_VARIABLE];
  if (key) {
    if (key.length < MIN_KEY_LENGTH)
      throw usageError(
        `${KEY_VARIABLE} needs at least ${MIN_KEY_LENGTH} characters: openssl rand -base64 32`,
      );
    const { apiKey, hashApiKey } = await import('../../../auth.js');
    const keys = [{ hash: await hashApiKey(key), subject: 'proxy' }];
    return { ...listening, host, auth: apiKey({ keys }) };
  }
  if (isLoopbackHost(host)) return { ...listening, host };
  throw usageError(
    `On ${host}, everybody on the network could use these servers. Set ${KEY_VARIABLE} to a key of at least ${MIN_KEY_LENGTH} characters, which clients send as their token.`,
  );
}

async function loginOf(input: Typed): Promise<Parameters<typeof oneServer>[1]> {
  if (!input.flag('login')) return undefined;
  const { prepareLoginStore } = await import('../../target/login/login-store.js');
  const { userLogin } = await import('../../target/login/user-login.js');
  await prepareLoginStore();
  return userLogin(input);
}
