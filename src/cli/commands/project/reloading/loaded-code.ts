// One version of the code that is being developed: a process of its own, behind a proxy.

import process from 'node:process';
import { connect } from '../../../../client.js';
import { JOURNAL_VARIABLE } from '../../../../inspector/journal/journal-line.js';
import { isObject } from '../../../../jsonrpc/message.js';
import type { Auth, Dispatch } from '../../../../protocol/call.js';
import { McpError } from '../../../../protocol/errors.js';
import { proxy } from '../../../../proxy.js';
import { type Manifest, manifestOf } from '../../../../tooling/manifest/manifest.js';
import { runProcess } from '../../../target/run-process.js';

/** A version is kept for as long as it serves, however quiet its clients are. */
const IDLE_MS = 24 * 60 * 60 * 1000;

/** Lines on stderr that are held back while it is found out whether code answers. */
const MAX_HELD = 1000;

export interface LoadedCode {
  readonly dispatch: Dispatch;
  readonly manifest: Manifest;
  /** The reason why the server did not list everything, for a caller that it does not know. */
  readonly refusal?: unknown;
  /** Whether the code answers. If its process has ended, it is started again from the file, as the next call would start it. */
  readonly isServing: (within: AbortSignal) => Promise<boolean>;
  readonly close: () => Promise<void>;
}

export interface StartCodeOptions {
  readonly args: readonly string[];
  /** The caller of all calls. Default: nobody. */
  readonly caller: Auth | undefined;
  /** The secret that seals questions. All versions have the same, so that each can take an answer to another. */
  readonly secret: string;
  readonly onStderr: (line: string) => void;
  /** Called when the process has ended by itself, with how it did: `with exit code 3` or `by SIGKILL`. */
  readonly onEnded: (how: string) => void;
  /** The mark of the lines on stderr that report the steps of handlers. Without it, nothing is reported. */
  readonly journalMark: string | undefined;
  /** Ends the start, and the process with it. */
  readonly signal: AbortSignal;
}

/** Starts the file in a process of its own, and reads what it offers. Throws if the file cannot be loaded or does not serve. */
export async function startCode(
  file: string,
  { args, caller, secret, onStderr, onEnded, signal, journalMark }: StartCodeOptions,
): Promise<LoadedCode> {
  const reporting = journalMark === undefined ? {} : { [JOURNAL_VARIABLE]: journalMark };
  let listener = onStderr;
  const program = runProcess(file, { args, caller });
  const child = proxy(
    { ...program, env: { ...ownVariables(), ...program.env, MCP_SECRET: secret, ...reporting } },
    { stderr: (line) => listener(line), idleMs: IDLE_MS, logger: () => undefined },
  );
  async function isServing(within: AbortSignal): Promise<boolean> {
    const lines: string[] = [];
    listener = (line) => void (lines.length < MAX_HELD && lines.push(line));
    try {
      const client = await connect(child, { signal: within });
      await client.ping({ signal: within });
      await client.close();
    } catch {
      // A process that was started for this has written why it ended, and the person has read that already.
      return false;
    } finally {
      listener = onStderr;
    }
    for (const line of lines) onStderr(line);
    return true;
  }
  try {
    const client = await connect(child, { signal });
    let refusal: unknown;
    const manifest = await manifestOf(client, {
      onRefused: (_list, error) => {
        refusal ??= error;
      },
    });
    await client.close();
    const ends = new ProcessEnds(onEnded);
    const close = (): Promise<void> => {
      ends.areWanted = true;
      return child.close();
    };
    return { dispatch: ends.watching(child.dispatch), manifest, refusal, isServing, close };
  } catch (error) {
    // A program that hangs is given time to end. Nobody waits for that; if this process exits earlier, the program is killed.
    void child.close().catch(() => undefined);
    throw error;
  }
}

/** Notices that the process has ended by itself, by the calls that fail with it. */
class ProcessEnds {
  /** Whether the process is being closed. */
  areWanted = false;
  readonly #onEnded: (how: string) => void;
  /** The end that was reported last. All calls that were open fail with the same one. */
  #last: unknown;

  constructor(onEnded: (how: string) => void) {
    this.#onEnded = onEnded;
  }

  watching(dispatch: Dispatch): Dispatch {
    return async (call) => {
      try {
        return await dispatch(call);
      } catch (error) {
        this.#see(McpError.is(error) && McpError.is(error.cause) ? error.cause : error);
        throw error;
      }
    };
  }

  #see(error: unknown): void {
    if (this.areWanted || error === this.#last) return;
    if (!McpError.is(error) || error.code !== 'connection_closed' || !isObject(error.data)) return;
    const { exitCode, signal } = error.data;
    if (typeof exitCode !== 'number' && typeof signal !== 'string') return;
    this.#last = error;
    this.#onEnded(typeof signal === 'string' ? `by ${signal}` : `with exit code ${exitCode}`);
  }
}

/** The program has the variables that it would have if the user had started it. */
function ownVariables(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}
