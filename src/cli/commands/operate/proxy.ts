import { serveStdio } from '../../../stdio.js';
import type { Command, Typed } from '../../command/definition.js';
import { usageError } from '../../command/failures.js';
import { wholeNumber } from '../../command/parse.js';
import { oneServer } from '../../operate/proxying/one-server.js';
import { TARGET_OPTIONS } from '../../target/options.js';

const DEFAULT_PORT = 3000;

/** `fullmcp proxy`. */
export const proxy: Command = {
  usage: '<target | name=target | config.json …>',
  details:
    'For hosts that start programs and cannot open an address: serves on stdin and stdout, and ends when the host closes stdin. With --http,\nserves programs to clients that only know addresses, on this computer. One target is passed on as it is. Several, or a config, become one\nserver, whose tools and prompts have the name of their server as a prefix. Each target is started when it is first needed.',
  words: [1, 50],
  options: {
    ...TARGET_OPTIONS,
    http: { type: 'boolean', help: 'serve over HTTP on 127.0.0.1, in place of stdin and stdout' },
    port: {
      type: 'string',
      value: 'port',
      help: `the port for --http, 0 for a free one; default ${DEFAULT_PORT}`,
    },
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
      line: 'fullmcp proxy --http --port 8080 -- npx -y @modelcontextprotocol/server-everything',
      says: 'A program as a server at http://localhost:8080/mcp.',
    },
  ],
  json: '{ ok: true, url: string }, once it listens, only with --http; without it, stdout belongs to the protocol',
  async run(input) {
    const port = portOf(input);
    if (port === undefined && input.out.isJson)
      throw usageError('stdout belongs to the protocol, so --json is possible with --http only.');
    const server = await oneServer(input, await loginOf(input));
    if (port === undefined) return serveOnStdio(server, input.signal);
    const { serveHttp } = await import('../../operate/proxying/serve-http.js');
    await serveHttp(server, port, input);
  },
};

/** The port for HTTP; undefined for stdin and stdout. */
function portOf(input: Typed): number | undefined {
  const port = wholeNumber(input, 'port', [0, 65_535]);
  if (input.flag('http')) return port ?? DEFAULT_PORT;
  if (port !== undefined) throw usageError('--port needs --http.');
  return undefined;
}

async function loginOf(input: Typed): Promise<Parameters<typeof oneServer>[1]> {
  if (!input.flag('login')) return undefined;
  const { prepareLoginStore } = await import('../../target/login/login-store.js');
  const { userLogin } = await import('../../target/login/user-login.js');
  await prepareLoginStore();
  return userLogin(input);
}

async function serveOnStdio(server: Parameters<typeof serveStdio>[0], signal: AbortSignal): Promise<void> {
  const serving = serveStdio(server, { exit: false });
  const stop = (): void => void serving.close();
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  await serving.closed;
}
