import { existsSync } from 'node:fs';
import process from 'node:process';
import { every } from '../../../async/every.js';
import type { Auth } from '../../../protocol/call.js';
import { proxy } from '../../../proxy.js';
import { OPERATOR_VARIABLE } from '../../../tooling/operator/operator-methods.js';
import type { Command, Typed } from '../../command/definition.js';
import { usageError } from '../../command/failures.js';
import { callerOf, servedFor } from '../../target/caller.js';
import { missingFile } from '../../target/missing-file.js';
import { connectOptions } from '../../target/open.js';
import { TARGET_OPTIONS } from '../../target/options.js';
import { takeTarget, variablesOf } from '../../target/read-target.js';
import { isSourceFile, type LoadedServer, loadServer } from './serving/load-server.js';
import {
  isLoopbackHost,
  LISTEN_OPTIONS,
  type ListenAddress,
  listeningOf,
  serveOnNetwork,
  serveOnStdio,
} from './serving/serve-server.js';

const PARENT_CHECK_MS = 500;

/** `fullmcp run`. */
export const run: Command = {
  usage: '<file | url | config | name> [-- argument …]',
  details:
    'A file exports a server as `default` or `server`, or serves by itself. TypeScript needs no build step: Node runs it since 22.18, and\njiti does before, if it is installed. A URL is served through a proxy, the servers of an mcpServers config through a gateway.\nServers that ask for a login get the one that is kept: `fullmcp auth login`.',
  words: [1, 2],
  options: {
    ...LISTEN_OPTIONS,
    watch: { type: 'boolean', help: 'reload a file on save, as `fullmcp dev` does, without its `auth`' },
    ...TARGET_OPTIONS,
  },
  examples: [
    { line: 'fullmcp run server.ts', says: 'Serves on stdin and stdout, as hosts start it.' },
    { line: 'fullmcp run server.ts --http 8080', says: 'Listens on http://localhost:8080/mcp.' },
    { line: 'fullmcp run https://example.com/mcp', says: 'A remote server for hosts that only know stdio.' },
    { line: 'fullmcp run mcp.json --http', says: 'All servers of a config as one.' },
  ],
  json: '{ ok: true, url: string, port: number }, once it listens; only with --http or --ws',
  async run(input) {
    const caller = callerOf(input);
    const listening = caller === undefined ? listeningOf(input) : onThisComputer(listeningOf(input), caller);
    const [word = ''] = input.words;
    // Anything else that is printed would break the protocol.
    if (listening === undefined) console.log = console.info = console.debug = console.error;
    // Only the program at the other end of stdio hears of the runs.
    if (listening === undefined && process.env['FULLMCP_JOURNAL'] !== undefined)
      (await import('./serving/report-journal.js')).reportJournal();
    const isOperated = takeOperator() && listening === undefined;
    if (input.flag('watch')) return watched(word, listening, input);
    const loaded = isSourceFile(word) ? await own(word, input) : await forwarded(word, input);
    if (loaded === undefined && caller !== undefined)
      throw usageError(`${word} serves by itself, so --as has no effect. Export the server instead.`);
    if (loaded === undefined) return untilProgramEnds(word, input);
    const server = caller === undefined ? loaded : servedFor(loaded, caller);
    if (listening !== undefined) await serveOnNetwork(server, listening, input);
    else await serveOnStdio(isOperated ? await operated(server) : server, input.signal);
  },
};

/** Whether the program at the other end of stdio is the operator. Programs that the file starts are not asked to have one. */
function takeOperator(): boolean {
  const isThere = process.env[OPERATOR_VARIABLE] !== undefined;
  delete process.env[OPERATOR_VARIABLE];
  return isThere;
}

async function operated(server: LoadedServer): Promise<LoadedServer> {
  return (await import('../../../tooling/operator/operated-server.js')).operatedServer(server);
}

/** Everybody who reaches the port is the caller, so that only this computer may. The environment cannot choose another address either. */
function onThisComputer(listening: ListenAddress | undefined, { subject }: Auth): ListenAddress | undefined {
  if (listening === undefined) return undefined;
  const { host = '127.0.0.1' } = listening;
  if (isLoopbackHost(host)) return { ...listening, host };
  throw usageError(
    `On ${host}, everybody on the network would be ${JSON.stringify(subject)}. --as is for this computer only: leave out --host.`,
  );
}

async function watched(file: string, listening: ListenAddress | undefined, input: Typed): Promise<void> {
  if (!isSourceFile(file)) throw usageError(`--watch is for files, and ${JSON.stringify(file)} is not one.`);
  if (input.text('host') !== undefined)
    throw usageError(
      '--watch serves without the `auth` of the file, on this computer only: leave out --host.',
    );
  enter(file, input);
  const { serveAndReload } = await import('./reloading/serve-and-reload.js');
  await serveAndReload(file, { listening }, input);
}

/** The server of a file; undefined if the file serves by itself. */
async function own(file: string, input: Typed): Promise<LoadedServer | undefined> {
  enter(file, input);
  // Until the file is loaded, nobody reads stdin and sees its end.
  const parent = process.ppid;
  const stop = every(PARENT_CHECK_MS, () => process.ppid === parent || process.exit());
  try {
    return await loadServer(file, input.process);
  } finally {
    stop();
  }
}

/** Goes where a file is to run, with the variables that it is to have. */
function enter(file: string, input: Typed): void {
  refuse(input, CONNECTING, `${file} is started here, and not connected to.`);
  const folder = input.text('cwd');
  if (folder !== undefined && !existsSync(folder)) throw usageError(`There is no folder ${folder}.`);
  if (folder !== undefined) process.chdir(folder);
  Object.assign(process.env, variablesOf(input));
}

/** A server in front of the servers of a config, or of one that runs elsewhere. */
async function forwarded(word: string, input: Typed): Promise<LoadedServer> {
  if (input.process) throw usageError('Only a file takes arguments after `--`.');
  if (/\.json$/i.test(word)) {
    refuse(input, Object.keys(TARGET_OPTIONS), `The servers of ${word} have settings of their own.`);
    if (!existsSync(word)) throw usageError(missingFile(word));
    const { oneServer } = await import('./serving/one-server.js');
    return (await oneServer(input, undefined)) as LoadedServer;
  }
  const { target } = await takeTarget(input);
  const { signal, reconnect, ...options } = connectOptions(input, target);
  return proxy(target.target, options) as LoadedServer;
}

/** The options of a connection. A file has none. */
const CONNECTING = ['token', 'header', 'config', 'timeout', 'revision'];

function refuse(input: Typed, options: readonly string[], reason: string): void {
  const given = options.find((option) => input.texts(option).length > 0);
  if (given !== undefined) throw usageError(`--${given} has no effect here. ${reason}`);
}

/** Leaves the process to a program that serves by itself. Fails if the program ends without having served. */
function untilProgramEnds(file: string, { signal }: Typed): Promise<void> {
  signal.addEventListener('abort', () => {
    // A program that handles the signal closes in its own time.
    if (process.listenerCount('SIGINT') <= 1) process.exit(130);
  });
  return new Promise((_, reject) => {
    process.once('beforeExit', () =>
      reject(
        usageError(
          `${file} neither exports a server nor serves one. Add: export default createServer({ … })`,
        ),
      ),
    );
  });
}
