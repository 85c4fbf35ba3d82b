import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import type { ClientOptions } from 'ws';
import { McpError } from '../../../protocol/errors.js';
import type { Wire } from '../../../transports/client/wire.js';
import type { NodeHttpOptions } from '../../../transports/http/client/options.js';
import { type ServerProcess, type SpawnOptions, spawnWire } from '../../../transports/stdio/client/spawn.js';
import type { WebSocketConstructor } from '../../../transports/websocket/connect.js';
import { Dialer, type Dialled } from './dial.js';
import { hostOf, portOf, proxyFor } from './proxy.js';

// The abilities that a client has on Node and not in a browser. Loaded when a target needs them.

export function openProcess(server: ServerProcess, options: SpawnOptions): Wire {
  return spawnWire(server, options);
}

interface Script extends ServerProcess {
  readonly hint: (failure: McpError) => string | undefined;
}

/** Finds out how to start a script, with advice for when that fails. */
export function scriptProcess(given: string): Script {
  const path = pathOf(given);
  if (!existsSync(path)) throw noFile(path);
  if (/\.py$/i.test(path))
    return {
      command: process.platform === 'win32' ? 'python' : 'python3',
      args: [path],
      hint: (failure) =>
        failure.code === 'connect_failed' || wrote(failure, 'ModuleNotFoundError')
          ? 'A .py target runs with the Python on the PATH. For another: { command, args }.'
          : undefined,
    };
  if (/\.[cm]?js$/i.test(path) || runsTypeScript())
    return {
      command: process.execPath,
      args: [path],
      // A script that crashed has reported the reason itself.
      hint: (failure) =>
        endedWell(failure)
          ? 'A script that ends at once only defines its server: it has to serve it, with serveStdio(server) of fullmcp/stdio.'
          : undefined,
    };
  return {
    command: 'npx',
    args: ['tsx', path],
    hint: (failure) =>
      failure.code === 'connect_failed' || wrote(failure, 'npm error', 'npm ERR!', 'tsx: not found')
        ? `Node ${process.versions.node} does not run TypeScript by itself, so this was started with "npx tsx": install tsx, use Node 22.18 or later, or compile it and connect to the .js file.`
        : undefined,
  };
}

/** Whether a process has exited with success and without output. */
function endedWell({ code, data }: McpError): boolean {
  const { exitCode, stderr = [], stdout = [] } = (data ?? {}) as Partial<Ended>;
  return code === 'connection_closed' && exitCode === 0 && stderr.length === 0 && stdout.length === 0;
}

function wrote({ data }: McpError, ...words: readonly string[]): boolean {
  const { stderr = [] } = (data ?? {}) as Partial<Ended>;
  return stderr.some((line) => words.some((word) => line.includes(word)));
}

interface Ended {
  readonly exitCode: number | null;
  readonly stderr: readonly string[];
  readonly stdout: readonly string[];
}

export function readText(path: string): Promise<string> {
  return readFile(pathOf(path), 'utf8');
}

/** A WebSocket of `ws`, which sends headers when it opens and follows the options for Node. */
export async function webSocketWith(
  headers: Readonly<Record<string, string>>,
  options: NodeHttpOptions = {},
): Promise<WebSocketConstructor> {
  const { WebSocket } = await import('ws');
  return class extends WebSocket {
    constructor(url: string, protocols?: string | string[]) {
      super(url, protocols, { headers, ...dialling(new URL(url), options) });
    }
  };
}

/** Empty without such options: then `ws` opens its own connections. */
function dialling(url: URL, options: NodeHttpOptions): Pick<ClientOptions, 'createConnection'> {
  const { ca, cert, key, lookup } = options;
  const proxy = proxyFor(url, options.proxy, process.env);
  if ([ca, cert, key, lookup, proxy].every((given) => given === undefined)) return {};
  const dialer = new Dialer({
    secure: url.protocol === 'wss:',
    proxy,
    tls: options,
    lookup,
    alwaysTunnel: true,
  });
  const to = { host: hostOf(url), port: portOf(url), path: undefined };
  return {
    createConnection: ((given: object, dialled: Dialled) =>
      dialer.dial({ ...given, ...to }, dialled)) as unknown as ClientOptions['createConnection'],
  };
}

/** Whether the runtime runs TypeScript: Node since 22.18 and 23.6 by default, Bun and Deno always. */
function runsTypeScript(): boolean {
  const { features, versions } = process as {
    features: { readonly typescript?: unknown };
    versions: Record<string, string | undefined>;
  };
  return Boolean(features.typescript) || versions['bun'] !== undefined || versions['deno'] !== undefined;
}

function pathOf(given: string): string {
  return given.startsWith('file:') ? fileURLToPath(given) : given;
}

function noFile(path: string): McpError {
  const [command, ...args] = path.split(' ');
  const list = args.map((arg) => `'${arg}'`).join(', ');
  const meant =
    args.length > 0 ? ` For a command line, write { command: '${command}', args: [${list}] }.` : '';
  return new McpError('connect_failed', `There is no file ${path} (looked in ${process.cwd()}).${meant}`);
}
