// One version of the code that is being developed: a process of its own, behind a proxy.

import process from 'node:process';
import { connect } from '../../../../client.js';
import { JOURNAL_VARIABLE } from '../../../../inspector/journal/journal-line.js';
import type { Auth, Dispatch } from '../../../../protocol/call.js';
import { proxy } from '../../../../proxy.js';
import { type Manifest, manifestOf } from '../../../../tooling/manifest/manifest.js';
import { runProcess } from '../../../target/run-process.js';

/** A version is kept for as long as it serves, however quiet its clients are. */
const IDLE_MS = 24 * 60 * 60 * 1000;

export interface LoadedCode {
  readonly dispatch: Dispatch;
  readonly manifest: Manifest;
  /** The reason why the server did not list everything, for a caller that it does not know. */
  readonly refusal?: unknown;
  readonly close: () => Promise<void>;
}

export interface StartCodeOptions {
  readonly args: readonly string[];
  /** The caller of all calls. Default: nobody. */
  readonly caller: Auth | undefined;
  /** The secret that seals questions. All versions have the same, so that each can take an answer to another. */
  readonly secret: string;
  readonly onStderr: (line: string) => void;
  /** The mark of the lines on stderr that report the steps of handlers. Without it, nothing is reported. */
  readonly journalMark: string | undefined;
  /** Ends the start, and the process with it. */
  readonly signal: AbortSignal;
}

/** Starts the file in a process of its own, and reads what it offers. Throws if the file cannot be loaded or does not serve. */
export async function startCode(
  file: string,
  { args, caller, secret, onStderr, signal, journalMark }: StartCodeOptions,
): Promise<LoadedCode> {
  const reporting = journalMark === undefined ? {} : { [JOURNAL_VARIABLE]: journalMark };
  const child = proxy(
    { ...runProcess(file, { args, caller }), env: { ...ownVariables(), MCP_SECRET: secret, ...reporting } },
    { stderr: onStderr, idleMs: IDLE_MS, logger: () => undefined },
  );
  try {
    const client = await connect(child, { signal });
    let refusal: unknown;
    const manifest = await manifestOf(client, {
      onRefused: (_list, error) => {
        refusal ??= error;
      },
    });
    await client.close();
    return { dispatch: child.dispatch, manifest, refusal, close: child.close };
  } catch (error) {
    // A program that hangs is given time to end. Nobody waits for that; if this process exits earlier, the program is killed.
    void child.close().catch(() => undefined);
    throw error;
  }
}

/** The program has the variables that it would have if the user had started it. */
function ownVariables(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}
