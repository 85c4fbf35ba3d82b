import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { soon, until } from '../until.js';

// biome-ignore lint/suspicious/noExplicitAny: what a peer sent, to be matched against
type Message = Record<string, any>;

export interface StdioChild {
  readonly process: ChildProcessWithoutNullStreams;
  readonly write: (text: string | Buffer) => void;
  readonly send: (...messages: object[]) => void;
  /** The next message on standard output; fails if a line is not JSON. */
  readonly next: () => Promise<Message>;
  /** Sends a request and returns its response, skipping notifications. */
  readonly ask: (message: object) => Promise<Message>;
  readonly exited: Promise<{ readonly code: number | null; readonly signal: string | null }>;
  readonly stderr: () => string;
  /** The notes of the server: `opened`, `closing`, `closed` … */
  readonly notes: () => string[];
  /** Resolves when everything that must keep the process alive is open. */
  readonly ready: () => Promise<void>;
}

export interface StdioChildOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly nodeArgs?: readonly string[];
  readonly args?: readonly string[];
  /** The descriptor that the server reads from; 0 unless its parent passes another. */
  readonly input?: 0 | 3;
}

const fixtures = fileURLToPath(new URL('../../unit/transports/stdio/fixtures/', import.meta.url));
const started = new Set<() => void>();

/** Closes everything that a test has left open. Call it after each test. */
export function stopStdioChildren(): void {
  for (const stop of started) stop();
  started.clear();
}

export function startStdio(file = 'server.mjs', options: StdioChildOptions = {}): StdioChild {
  const folder = mkdtempSync(join(tmpdir(), 'fullmcp-stdio-'));
  const notesFile = join(folder, 'notes');
  const child = spawn(
    process.execPath,
    [...(options.nodeArgs ?? []), join(fixtures, file), ...(options.args ?? [])],
    {
      env: { ...process.env, NOTES: notesFile, ...options.env },
      stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
    },
  ) as ChildProcessWithoutNullStreams;
  const input = (options.input === 3 ? child.stdio[3] : child.stdin) as Writable;
  started.add(() => {
    child.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  input.on('error', () => undefined);
  const exited = once(child, 'exit').then(([code, signal]) => ({ code, signal }));
  let lines: AsyncIterator<string> | undefined;

  async function next(): Promise<Message> {
    lines ??= createInterface(child.stdout)[Symbol.asyncIterator]();
    const { value, done } = await soon('The next message', lines.next());
    if (done) throw new Error(`The server closed its output. It said:\n${stderr}`);
    return JSON.parse(value as string) as Message;
  }

  const send = (...messages: object[]): void =>
    void input.write(messages.map((message) => `${JSON.stringify(message)}\n`).join(''));

  return {
    process: child,
    write: (text) => void input.write(text),
    send,
    next,
    async ask(message) {
      send(message);
      for (;;) {
        const answer = await next();
        if (answer['id'] === (message as { id?: unknown }).id && answer['method'] === undefined)
          return answer;
      }
    },
    exited,
    stderr: () => stderr,
    notes: () => {
      try {
        return readFileSync(notesFile, 'utf8').trim().split('\n');
      } catch {
        return [];
      }
    },
    ready: () => until('the server is ready', () => stderr.includes('ready\n')),
  };
}
