// Serves a file, and loads it again when a file of its project changes.

import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import process from 'node:process';
import { Turns } from '../../../../async/turns.js';
import type { Auth } from '../../../../protocol/call.js';
import { McpError } from '../../../../protocol/errors.js';
import { SOME_REJECT } from '../../../../protocol/tables/failure-texts.js';
import { clean, cleanLine } from '../../../../tooling/clean.js';
import { printLogLine } from '../../../../tooling/process-output.js';
import { ShownPart } from '../../../../transports/stdio/client/last-lines.js';
import type { Typed } from '../../../command/definition.js';
import { CommandError, usageError } from '../../../command/failures.js';
import { callerOf, withCallerHint } from '../../../target/caller.js';
import { missingFile } from '../../../target/missing-file.js';
import type { LoadedServer } from '../serving/load-server.js';
import { changesOf, hasFindings, summaryOf } from './describe-server.js';
import type { JournalLines } from './journal-lines.js';
import { type LoadedCode, startCode } from './loaded-code.js';
import { ReloadingServer } from './reloading-server.js';
import { watchProject } from './watch-project.js';

const MAX_LINE = 2000;
const MAX_SEEN = 1000;
/** Code that does not answer for so long does not serve. */
const ANSWER_MS = 10_000;

/** A server that is reloaded on save, and what a person can do with it. */
export interface ReloadedProject {
  readonly server: LoadedServer;
  /** Writes the line about the first load. Later loads are written when they happen. */
  readonly announce: (hint?: string) => void;
  /** Loads the file again, as if it had been saved. */
  readonly reload: () => void;
  /** The newest code that was loaded. */
  readonly manifest: () => LoadedCode['manifest'];
}

/** Loads a file, and begins to watch its project. Closing the server ends all of it. Throws if the file cannot be loaded. */
export async function reloadOnSave(
  file: string,
  input: Typed,
  journal?: JournalLines,
): Promise<ReloadedProject> {
  if (!existsSync(file)) throw usageError(missingFile(file));
  const { out } = input;
  const loads = new Loads(file, input, journal);
  const load: Load = (signal) => loads.next(signal);
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
    out.wait(`starting ${basename(file)}`);
    reloading = new Reloading(await load(input.signal), load, (message, keeps) =>
      loads.failed(message, keeps),
    );
  } catch (error) {
    watching.close();
    throw new CommandError('failed', firstFailure(file, error, out.isJson));
  } finally {
    out.wait();
  }
  if (isStale) reloading.begin();
  const { server } = reloading;
  const close = async (): Promise<void> => {
    watching.close();
    await reloading.close();
  };
  return {
    server: { ...server, close, [Symbol.asyncDispose]: close } as LoadedServer,
    announce: (hint) => loads.announce(hint),
    reload: () => reloading.begin(),
    manifest: loads.manifest,
  };
}

type Load = (signal: AbortSignal) => Promise<LoadedCode>;
type FailureNote = (reason: string, keepsServing: boolean) => void;

/** Loads the newest code again and again, and says what changed. */
class Loads {
  readonly #file: string;
  readonly #input: Typed;
  readonly #journal: JournalLines | undefined;
  readonly #caller: Auth | undefined;
  readonly #secret = process.env['MCP_SECRET'] || randomBytes(32).toString('hex');
  #last: { readonly code: LoadedCode; readonly ms: number } | undefined;
  #isAnnounced = false;

  constructor(file: string, input: Typed, journal: JournalLines | undefined) {
    this.#file = file;
    this.#input = input;
    this.#journal = journal;
    this.#caller = callerOf(input);
  }

  readonly manifest = (): LoadedCode['manifest'] => (this.#last as { code: LoadedCode }).code.manifest;

  async next(signal: AbortSignal): Promise<LoadedCode> {
    const started = performance.now();
    const { out } = this.#input;
    // A program that ends at once is started a second time, in case it only speaks an older revision.
    const seen = new Set<string>();
    let isLoading = true;
    const onStderr = (written: string): ShownPart => {
      const line = this.#journal === undefined ? written : this.#journal.take(written);
      const part = new ShownPart(line);
      // The findings about a tool say the same, and what to do.
      if (line === undefined || (isLoading && line.includes(SOME_REJECT))) return part;
      if (!isLoading || !seen.has(line))
        out.note(out.isWatched ? printLogLine(line) : cleanLine(line, MAX_LINE));
      if (isLoading && seen.size < MAX_SEEN) seen.add(line);
      return part;
    };
    const code = await startCode(this.#file, {
      args: this.#input.process ?? [],
      caller: this.#caller,
      secret: this.#secret,
      signal,
      onStderr,
      onEnded: (how) =>
        out.styledNote(
          out.noteStyle('yellow', out.forPerson(`The server ended ${how}. The next call starts it again.`)),
        ),
      journalMark: this.#journal?.mark,
    });
    isLoading = false;
    const before = this.#last?.code;
    this.#last = { code, ms: performance.now() - started };
    if (before !== undefined && this.#isAnnounced) this.#describe(before);
    return code;
  }

  announce(hint = ''): void {
    this.#isAnnounced = true;
    if (this.#last === undefined) return;
    const { code, ms } = this.#last;
    const more = hasFindings(code.manifest) ? hint : '';
    this.#input.out.note(`${this.#file} is loaded: ${summaryOf(code.manifest)}, ${ms.toFixed(0)} ms.${more}`);
    this.#refused(code);
  }

  /** Says that code does not load. The code has written why. */
  failed(reason: string, keepsServing: boolean): void {
    const { out } = this.#input;
    const says = keepsServing
      ? 'The new code does not load. The old code keeps serving.'
      : 'The new code does not load, and the old code does not answer. Calls fail until you save code that loads.';
    out.styledNote(`${out.forPerson(clean(reason))}${out.noteStyle('yellow', out.forPerson(says))}`);
  }

  #describe({ manifest: before }: LoadedCode): void {
    const { code, ms } = this.#last as { code: LoadedCode; ms: number };
    const { out } = this.#input;
    const count = code.manifest.tools.length;
    out.note(`${this.#file} is reloaded: ${count} ${count === 1 ? 'tool' : 'tools'}, ${ms.toFixed(0)} ms.`);
    this.#refused(code);
    const width = out.isWatched ? out.columns : MAX_LINE;
    for (const line of changesOf(code.manifest, before)) out.note(cleanLine(line, Math.max(40, width)));
  }

  #refused({ refusal }: LoadedCode): void {
    if (refusal !== undefined) this.#input.out.note(cleanLine(refusedList(refusal, this.#input), MAX_LINE));
  }
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
  readonly #note: FailureNote;
  #current = new AbortController();
  readonly #turns = new Turns();

  constructor(first: LoadedCode, load: Load, note: FailureNote) {
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
      if (signal.aborted) return;
      const keepsServing = await this.server.isServing(
        AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]),
      );
      if (!signal.aborted) this.#note(reasonOf(error), keepsServing);
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
