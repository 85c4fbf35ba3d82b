// Serves a server until the user stops it.

import { type ServeOptions, serve } from '../../../../node.js';
import { isLoopbackUrl } from '../../../../oauth/fetch/check-url.js';
import { type StdioOptions, serveStdio } from '../../../../stdio.js';
import type { Options, Typed } from '../../../command/definition.js';
import { CommandError, usageError } from '../../../command/failures.js';
import { wholeNumber } from '../../../command/parse.js';
import { withSignals } from '../../../command/with-signals.js';
import type { Output } from '../../../terminal/output.js';
import type { LoadedServer } from './load-server.js';

/** The reasons why a port or an address cannot be listened on, with the other choice. */
const NOT_LISTENING: Readonly<Record<string, string>> = {
  EADDRINUSE: 'port with --port; 0 takes a free one',
  EACCES: 'port with --port; 0 takes a free one',
  EADDRNOTAVAIL: 'address with --host',
  ENOTFOUND: 'address with --host',
};

export const LISTEN_OPTIONS: Options = {
  http: {
    type: 'boolean',
    number: 'port',
    help: 'listen for HTTP, instead of serving on stdin and stdout; default port: 3000',
  },
  ws: { type: 'boolean', number: 'port', help: 'listen for WebSocket and HTTP' },
  port: {
    type: 'string',
    short: 'p',
    value: 'n',
    help: 'the port, if --http and --ws have none; 0 takes a free one',
  },
  host: { type: 'string', value: 'address', help: 'the address to listen on; default 127.0.0.1' },
};

/** Where a server is to listen; undefined for stdin and stdout. */
export interface ListenAddress {
  readonly port: number | undefined;
  readonly host: string | undefined;
  readonly websocket: boolean;
  /** The check of callers, for a server that has none of its own. */
  readonly auth?: ServeOptions['auth'];
  /** Starts something that runs as long as the server does, when the server listens. */
  readonly beside?: ((url: string) => Promise<Beside>) | undefined;
  /** Called when the addresses are printed, with that of the page that runs beside. The function that it returns is called at the end. */
  readonly onListening?: ((page: string | undefined) => () => void) | undefined;
}

/** Something that runs beside a server. */
export interface Beside {
  /** More fields for `--json`. */
  readonly json: object;
  /** The line that is printed on stderr. */
  readonly note: string;
  /** The address of its page. */
  readonly page?: string;
  readonly close: () => Promise<void>;
}

/** Reads where to listen. */
export function listeningOf(input: Typed): ListenAddress | undefined {
  const [port, more] = ['http', 'ws', 'port'].map((option) => portOf(input, option)).filter(isNumber);
  if (more !== undefined && more !== port) throw usageError(`Choose one port: ${port} or ${more}.`);
  const host = input.text('host');
  const websocket = input.flag('ws');
  if (input.flag('http') || websocket) return { port, host, websocket };
  if (port !== undefined || host !== undefined)
    throw usageError(
      '--port and --host need --http or --ws. Without them, the server uses stdin and stdout.',
    );
  if (input.out.isJson)
    throw usageError('--json needs --http or --ws: without them, stdout carries the protocol.');
  return undefined;
}

function portOf(input: Typed, option: string): number | undefined {
  return wholeNumber(input, option, [0, 65_535]);
}

function isNumber(value: number | undefined): value is number {
  return value !== undefined;
}

/** Whether only this computer reaches a host. */
export function isLoopbackHost(host: string): boolean {
  const name = host.includes(':') ? `[${host}]` : host;
  return URL.canParse(`http://${name}/`) && isLoopbackUrl(new URL(`http://${name}/`));
}

/** Serves on stdin and stdout. The process ends with its client. */
export async function serveOnStdio(
  server: LoadedServer,
  signal: AbortSignal,
  options: StdioOptions = {},
): Promise<void> {
  await server.start();
  const serving = serveStdio(server, options);
  const stop = (): void => void serving.close();
  if (signal.aborted) stop();
  signal.addEventListener('abort', stop, { once: true });
  await serving.closed;
}

/** Listens, prints the URL, and serves until the signal aborts or the process is told to end. */
export async function serveOnNetwork(
  server: LoadedServer,
  { port, host, websocket, auth, beside, onListening }: ListenAddress,
  { out, signal }: Typed,
): Promise<void> {
  const serving = await serve(server, {
    ...(port !== undefined && { port }),
    ...(host !== undefined && { host }),
    ...(!websocket && { websocket: false as const }),
    ...(auth !== undefined && { auth }),
    signals: false,
    exit: false,
  }).catch((error: unknown) => {
    throw listenError(error);
  });
  const url = websocket ? serving.url.replace(/^http/, 'ws') : serving.url;
  const other = await beside?.(url);
  out.json({ ok: true, url, port: serving.port, ...other?.json });
  printAddresses(url, other, out);
  const end = onListening?.(other?.page);
  await untilStopped(signal, serving.closed);
  end?.();
  await other?.close();
  await serving.close();
}

/** A pipe gets the address alone. */
function printAddresses(url: string, other: Beside | undefined, out: Output): void {
  if (out.isPiped || other === undefined) {
    out.value(url);
    if (other !== undefined && !out.isJson) out.note(other.note);
    return;
  }
  const line = (name: string, address: string): void =>
    out.styled(
      `  ${out.style('green', '➜')}  ${out.style('bold', name.padEnd(11))}${out.style('cyan', address)}`,
    );
  line('MCP', url);
  if (other.page === undefined) out.note(other.note);
  else line('Inspector', other.page);
}

/** Resolves when the user stops the command, when the process is told to end, or with `ended`. */
async function untilStopped(signal: AbortSignal, ended: Promise<void>): Promise<void> {
  await withSignals(signal, async (stopped) => {
    const aborted = new Promise<void>((resolve) => {
      if (stopped.aborted) resolve();
      stopped.addEventListener('abort', () => resolve(), { once: true });
    });
    await Promise.race([aborted, ended]);
  });
}

function listenError(error: unknown): unknown {
  const { code, message } = error as { code?: string; message?: string };
  if (typeof code !== 'string' || !Object.hasOwn(NOT_LISTENING, code)) return error;
  // The advice that the sentence ends with is for programs.
  const [sentence] = (message ?? code).split(/(?<=\.) /, 1);
  return new CommandError('connect', `${sentence} Choose another ${NOT_LISTENING[code]}.`);
}
