import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import type { ClientOptions } from 'ws';
import { McpError } from '../../../protocol/errors.js';
import type { ChallengeReply } from '../../../protocol/model/client-auth.js';
import type { Wire } from '../../../transports/client/wire.js';
import type { NodeHttpOptions } from '../../../transports/http/client/options.js';
import { type ServerProcess, type SpawnOptions, spawnWire } from '../../../transports/stdio/client/spawn.js';
import type { WebSocketConstructor } from '../../../transports/websocket/connect.js';
import { type DialCallback, Dialer } from './dial.js';
import { hostOf, portOf, proxyFor } from './proxy.js';
import { jitiRegister, typeScriptProcess, withoutTypeScript } from './typescript.js';

// The things that a client can do on Node and not in a browser. Loaded when a target needs them.

/** Starts a server as a child process. */
export function openProcess(server: ServerProcess, options: SpawnOptions): Wire {
  return spawnWire(server, options);
}

interface Script extends ServerProcess {
  /** Advice for a script that does not start; undefined if the failure says enough. */
  readonly hint: (failure: McpError) => string | undefined;
}

/** Uses the process that runs a script. An error of `use` gets advice if the script did not start. */
export async function withScript<Result>(
  path: string,
  use: (server: ServerProcess) => Promise<Result>,
): Promise<Result> {
  const { hint, ...server } = scriptProcess(path);
  try {
    return await use(server);
  } catch (error) {
    const advice = McpError.is(error) ? hint(error) : undefined;
    if (advice === undefined || !McpError.is(error)) throw error;
    const { code, message, data } = error;
    throw new McpError(code, `${message}\n${advice}`, { data });
  }
}

/** Finds out how to start a script, and makes the advice for when that fails. */
export function scriptProcess(target: string): Script {
  const path = pathOf(target);
  if (!existsSync(path)) throw fileMissing(path);
  if (/\.py$/i.test(path))
    return {
      command: process.platform === 'win32' ? 'python' : 'python3',
      args: [path],
      hint: (failure) =>
        failure.code === 'connect_failed' || wrote(failure, 'ModuleNotFoundError')
          ? 'A .py target runs with the Python on the PATH. To use another one, pass { command, args }.'
          : undefined,
    };
  const isPlain = /\.[cm]?js$/i.test(path) || runsTypeScript();
  const server = isPlain
    ? { command: process.execPath, args: [path] }
    : typeScriptProcess(path, jitiRegister(path));
  return {
    ...server,
    hint: (failure) => {
      // A script that crashed has reported the reason itself.
      if (exitedSilently(failure)) return notServed(path);
      const isMissing =
        server.command === 'npx' &&
        (failure.code === 'connect_failed' || wrote(failure, 'npm error', 'npm ERR!', 'tsx: not found'));
      return isMissing ? withoutTypeScript() : undefined;
    },
  };
}

// The command `fullmcp` serves what a file exports; `connect` starts the file, which may be any program.
function notServed(path: string): string {
  return `A script that exits at once usually defines a server but does not serve it: call serveStdio(server) of fullmcp/stdio at its end, or let the command serve what it exports: connect({ command: 'npx', args: ['fullmcp', 'run', '${path}'] }).`;
}

/** Whether a process has exited with success and without output. */
function exitedSilently({ code, data }: McpError): boolean {
  const { exitCode, stderr = [], stdout = [] } = (data ?? {}) as Partial<ProcessEnd>;
  return code === 'connection_closed' && exitCode === 0 && stderr.length === 0 && stdout.length === 0;
}

function wrote({ data }: McpError, ...words: readonly string[]): boolean {
  const { stderr = [] } = (data ?? {}) as Partial<ProcessEnd>;
  return stderr.some((line) => words.some((word) => line.includes(word)));
}

interface ProcessEnd {
  readonly exitCode: number | null;
  readonly stderr: readonly string[];
  readonly stdout: readonly string[];
}

/** Reads a file: a path, or a `file:` URL. */
export function readText(path: string): Promise<string> {
  return readFile(pathOf(path), 'utf8');
}

/**
 * Makes a WebSocket class of `ws`, which sends the headers when it opens and follows the options for Node. `onRefused` gets the
 * reply of a server that does not open the socket.
 */
export async function webSocketWith(
  headers: Readonly<Record<string, string>>,
  options: NodeHttpOptions = {},
  onRefused?: (reply: ChallengeReply) => void,
): Promise<WebSocketConstructor> {
  const { WebSocket } = await import('ws');
  return class extends WebSocket {
    constructor(url: string, protocols?: string | string[]) {
      super(url, protocols, { headers, ...dialOptions(new URL(url), options) });
      if (onRefused === undefined) return;
      // With a listener, `ws` leaves it to the listener to end the socket.
      this.once('unexpected-response', (_request, { statusCode = 0, headers: replyHeaders }) => {
        onRefused({ status: statusCode, header: (name) => replyHeaders[name]?.toString() });
        this.emit('error', new Error(`Unexpected server response: ${statusCode}`));
        this.terminate();
      });
    }
  };
}

/** The options for connections. Empty if none are needed: then `ws` opens its own connections. */
function dialOptions(url: URL, options: NodeHttpOptions): Pick<ClientOptions, 'createConnection'> {
  const { ca, cert, key, lookup } = options;
  const proxy = proxyFor(url, options.proxy, process.env);
  if ([ca, cert, key, lookup, proxy].every((option) => option === undefined)) return {};
  const dialer = new Dialer({
    secure: url.protocol === 'wss:',
    proxy,
    tls: options,
    lookup,
    alwaysTunnel: true,
  });
  const to = { host: hostOf(url), port: portOf(url), path: undefined };
  return {
    createConnection: ((target: object, callback: DialCallback) =>
      dialer.dial({ ...target, ...to }, callback)) as unknown as ClientOptions['createConnection'],
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

function pathOf(target: string): string {
  return target.startsWith('file:') ? fileURLToPath(target) : target;
}

function fileMissing(path: string): McpError {
  const [command, ...args] = path.split(' ');
  const list = args.map((arg) => `'${arg}'`).join(', ');
  const hint =
    args.length > 0 ? ` For a command line, write { command: '${command}', args: [${list}] }.` : '';
  return new McpError('connect_failed', `There is no file ${path} (looked in ${process.cwd()}).${hint}`);
}
