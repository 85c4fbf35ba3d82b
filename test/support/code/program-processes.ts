// Processes that run programs as tasks, and a user of them whose requests survive that a process is killed.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { modern } from '../http/modern.js';
import { ended } from '../processes.js';
import { until } from '../until.js';

const fixture = fileURLToPath(new URL('../../flows/code/fixtures/program-server.mjs', import.meta.url));
const meta = {
  'io.modelcontextprotocol/clientCapabilities': {
    elicitation: {},
    extensions: { 'io.modelcontextprotocol/tasks': {} },
  },
};

/** A line that a process wrote. */
export interface Line extends Readonly<Record<string, unknown>> {
  readonly what: 'call' | 'did';
  readonly name: string;
  readonly run: string;
  readonly n?: number;
  readonly key?: string;
}

interface Process {
  readonly child: ChildProcess;
  readonly url: string;
}

/** Processes on an engine that can be killed. */
export class Processes {
  readonly #folder = mkdtempSync(join(tmpdir(), 'fullmcp-programs-'));
  readonly #env: NodeJS.ProcessEnv;
  readonly running: Process[] = [];
  readonly #starting = new Set<Promise<void>>();
  #isClosed = false;

  constructor(env: Readonly<Record<string, string>>) {
    const secret = 'the secret that all processes of this test have';
    this.#env = { ...process.env, ...env, MCP_SECRET: secret, LEDGER: join(this.#folder, 'ledger') };
  }

  /** Everything that has happened, in order. */
  lines(): readonly Line[] {
    const file = join(this.#folder, 'ledger');
    if (!existsSync(file)) return [];
    const lines = readFileSync(file, 'utf8').split('\n');
    return lines.slice(0, -1).map((line) => JSON.parse(line) as Line);
  }

  linesOf(run: string): readonly Line[] {
    return this.lines().filter((line) => line.run === run);
  }

  async start(more: Readonly<Record<string, string>> = {}): Promise<void> {
    const child = spawn(process.execPath, [fixture], {
      env: { ...this.#env, ...more },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const line = once(createInterface({ input: child.stdout }), 'line') as Promise<[string]>;
    const [url] = await Promise.race([line, once(child, 'exit').then(() => [undefined])]);
    if (url === undefined)
      throw new Error(`A process ended at once, with ${child.exitCode ?? child.signalCode}.`);
    if (this.#isClosed) return void (await ended(child, () => child.kill('SIGKILL')));
    this.running.push({ child, url });
  }

  /** Kills a process, and starts another one. */
  async kill(at: number): Promise<void> {
    await this.remove(at);
    const starting = this.start().finally(() => this.#starting.delete(starting));
    this.#starting.add(starting);
  }

  /** Kills a process. */
  async remove(at: number): Promise<void> {
    const [struck] = this.running.splice(at, 1);
    if (struck !== undefined) await ended(struck.child, () => struck.child.kill('SIGKILL'));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.#starting);
    while (this.running.length > 0) await this.remove(0);
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** The behaviour of a user. */
interface UserParts {
  /** The source of a program, whose calls have this name in the ledger. */
  readonly programOf: (run: string) => string;
  /** The content of the answer to a question. */
  readonly answerTo: (message: string) => Readonly<Record<string, unknown>>;
  readonly random: () => number;
}

/** A task as clients get it. */
export type Task = Readonly<Record<string, unknown>>;

/** A user whose programs run as tasks. Each request goes to a random process, and is sent again if that was killed. */
export class User {
  readonly #processes: Processes;
  readonly #parts: UserParts;
  #starts = 0;

  constructor(processes: Processes, parts: UserParts) {
    this.#processes = processes;
    this.#parts = parts;
  }

  async ask(method: string, params: Record<string, unknown>): Promise<Task> {
    for (;;) {
      const result = await this.#send(method, params);
      if (result !== undefined) return result;
    }
  }

  /** Starts a program. A start whose process was killed is repeated as another run. */
  async start(name: string): Promise<{ readonly run: string; readonly taskId: string }> {
    for (;;) {
      const run = `${name}.${++this.#starts}`;
      const task = await this.#send('tools/call', {
        name: 'run_code',
        arguments: { code: this.#parts.programOf(run) },
      });
      if (task !== undefined) return { run, taskId: task['taskId'] as string };
    }
  }

  /** Sends a request; undefined if its process was killed. */
  async #send(method: string, params: Record<string, unknown>): Promise<Task | undefined> {
    const { running } = this.#processes;
    await until('a process runs', () => running.length > 0);
    const { url } = running[Math.floor(this.#parts.random() * running.length)] as Process;
    const headers = { 'mcp-name': String(params['name'] ?? params['taskId']), 'x-user': 'ada' };
    try {
      const { text } = await modern(url, method, params, { meta, headers });
      const { result, error } = JSON.parse(text) as { result?: Record<string, unknown>; error?: unknown };
      if (result === undefined) throw new Error(`${method}: ${JSON.stringify(error)}`);
      return result;
    } catch (error) {
      if (!isBroken(error)) throw error;
      await delay(20);
      return undefined;
    }
  }

  /** Answers the questions of a program until it has ended, or until `isEnough`. Returns the task. */
  async follow(taskId: string, isEnough: (task: Task) => boolean = () => false): Promise<Task> {
    for (;;) {
      const task = await this.ask('tasks/get', { taskId });
      if (isEnough(task) || !['working', 'input_required'].includes(String(task['status']))) return task;
      if (task['status'] === 'input_required') await this.answer(taskId, task['inputRequests'] as object);
      await delay(20);
    }
  }

  /** Answers the questions of a task. */
  async answer(taskId: string, questions: object): Promise<void> {
    const answers = Object.entries(questions).map(([key, { params }]) => {
      const content = this.#parts.answerTo(params.message);
      return [key, { action: 'accept', content }];
    });
    // An answer that came before the process was killed is not taken twice.
    await this.ask('tasks/update', { taskId, inputResponses: Object.fromEntries(answers) });
  }
}

function isBroken(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException).code ?? '';
  return ['ECONNRESET', 'ECONNREFUSED', 'EPIPE'].includes(code) || error instanceof SyntaxError;
}
