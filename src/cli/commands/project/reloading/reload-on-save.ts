// Serves a file, and loads it again when a file of its project changes.

import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import process from 'node:process';
import { Turns } from '../../../../async/turns.js';
import { McpError } from '../../../../protocol/errors.js';
import { cleanLine } from '../../../../tooling/clean.js';
import { ShownPart } from '../../../../transports/stdio/client/last-lines.js';
import type { Typed } from '../../../command/definition.js';
import { CommandError, usageError } from '../../../command/failures.js';
import { callerOf, withCallerHint } from '../../../target/caller.js';
import type { LoadedServer } from '../serving/load-server.js';
import { describeServer } from './describe-server.js';
import type { JournalLines } from './journal-lines.js';
import { type LoadedCode, startCode } from './loaded-code.js';
import { ReloadingServer } from './reloading-server.js';
import { watchProject } from './watch-project.js';

const MAX_LINE = 2000;
const MAX_SEEN = 1000;

/** Loads a file, and begins to watch its project. Closing the server ends all of it. Throws if the file cannot be loaded. */
export async function reloadOnSave(
  file: string,
  input: Typed,
  journal?: JournalLines,
): Promise<LoadedServer> {
  if (!existsSync(file)) throw usageError(`There is no file ${file} (looked in ${process.cwd()}).`);
  const { out } = input;
  const load = loader(file, input, journal);
  let reloading: Reloading | undefined;
  let isStale = false;
  // A save during the first load is not missed.
  const watching = watchProject(file, {
    onChange: () => {
      if (reloading) reloading.begin();
      else isStale = true;
    },
    onProblem: (message) => out.note(message),
  });
  try {
    reloading = new Reloading(await load(input.signal), load, (message) => out.note(message));
  } catch (error) {
    watching.close();
    throw new CommandError('failed', firstFailure(file, error, out.isJson));
  }
  if (isStale) reloading.begin();
  const { server } = reloading;
  const close = async (): Promise<void> => {
    watching.close();
    await reloading.close();
  };
  return { ...server, close, [Symbol.asyncDispose]: close } as LoadedServer;
}

type Load = (signal: AbortSignal) => Promise<LoadedCode>;

/** Loads the newest code, and describes it. */
function loader(file: string, input: Typed, journal: JournalLines | undefined): Load {
  const { out, process: args = [] } = input;
  const caller = callerOf(input);
  const secret = process.env['MCP_SECRET'] || randomBytes(32).toString('hex');
  let before: LoadedCode['manifest'] | undefined;
  return async (signal) => {
    const started = performance.now();
    // A program that ends at once is started a second time, in case it only speaks an older revision.
    const seen = new Set<string>();
    let isLoading = true;
    const onStderr = (written: string): ShownPart => {
      const line = journal === undefined ? written : journal.take(written);
      const part = new ShownPart(line);
      if (line === undefined) return part;
      if (!isLoading || !seen.has(line)) out.note(cleanLine(line, MAX_LINE));
      if (isLoading && seen.size < MAX_SEEN) seen.add(line);
      return part;
    };
    const code = await startCode(file, {
      args,
      caller,
      secret,
      signal,
      onStderr,
      journalMark: journal?.mark,
    });
    isLoading = false;
    const { manifest, refusal } = code;
    const ms = (performance.now() - started).toFixed(0);
    const verb = before ? 'reloaded' : 'loaded';
    const count = manifest.tools.length;
    out.note(`${file} is ${verb}: ${count} ${count === 1 ? 'tool' : 'tools'}, ${ms} ms`);
    if (refusal !== undefined) out.note(cleanLine(refusedList(refusal, input), MAX_LINE));
    for (const line of describeServer(manifest, before)) out.note(line);
    before = manifest;
    return code;
  };
}

/** The server is served nevertheless: its clients may be callers that it knows. */
function refusedList(refusal: unknown, input: Typed): string {
  const error = withCallerHint(refusal, input);
  return `Not everything could be listed: ${error instanceof Error ? error.message : String(error)}`;
}

/** Reloads one after the other. A change during a load ends that load: its code is not the newest any more. */
class Reloading {
  readonly server: ReloadingServer;
  readonly #load: Load;
  readonly #note: (message: string) => void;
  #current = new AbortController();
  readonly #turns = new Turns();

  constructor(first: LoadedCode, load: Load, note: (message: string) => void) {
    this.server = new ReloadingServer(first);
    this.#load = load;
    this.#note = note;
  }

  begin(): void {
    this.#current.abort();
    this.#current = new AbortController();
    const { signal } = this.#current;
    void this.#turns.take(() => this.#reload(signal));
  }

  async close(): Promise<void> {
    this.#current.abort();
    await this.#turns.idle;
    await this.server.close();
  }

  async #reload(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    try {
      const next = await this.#load(signal);
      if (signal.aborted) await next.close();
      else this.server.replace(next);
    } catch (error) {
      if (!signal.aborted) this.#note(`${reasonOf(error)}The old code keeps serving.`);
    }
  }
}

/** The program itself has written why it ended. */
function reasonOf(error: unknown): string {
  if (McpError.is(error) && error.code === 'connection_closed') return '';
  return `${error instanceof Error ? error.message : String(error)}\n`;
}

function firstFailure(file: string, error: unknown, isJson: boolean): string {
  const reason = isJson && error instanceof Error ? `${error.message}\n` : reasonOf(error);
  return `${reason}${file} is not served.`;
}
