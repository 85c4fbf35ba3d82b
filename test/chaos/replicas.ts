import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('replica.js', import.meta.url));

interface Replica {
  readonly child: ChildProcess;
  readonly port: number;
}

/** The replicas of a chaos test. One that ends is replaced. */
export class Replicas {
  readonly #env: NodeJS.ProcessEnv;
  readonly #running = new Set<Replica>();
  /** The replicas that did not start. */
  readonly failures: string[] = [];
  #isClosed = false;
  #starts = 0;

  readonly #log: number;

  /** `log` is the file for what the replicas say. */
  constructor(env: Readonly<Record<string, string>>, log: string) {
    this.#env = { ...process.env, ...env, PORT: '0' };
    this.#log = openSync(log, 'a');
  }

  /** The ports of the replicas that run. */
  readonly ports = (): readonly number[] => [...this.#running].map(({ port }) => port);

  get starts(): number {
    return this.#starts;
  }

  async start(count: number): Promise<void> {
    await Promise.all(Array.from({ length: count }, () => this.#startOne()));
  }

  /** A random replica that runs. */
  choose(random: () => number): ChildProcess {
    const all = [...this.#running];
    return (all[Math.floor(random() * all.length)] as Replica).child;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const all = [...this.#running].map(({ child }) => child);
    for (const child of all) child.kill('SIGKILL');
    await Promise.all(all.map((child) => child.exitCode ?? child.signalCode ?? once(child, 'exit')));
    closeSync(this.#log);
  }

  async #startOne(): Promise<void> {
    this.#starts++;
    const child = spawn(process.execPath, [program], {
      env: this.#env,
      stdio: ['ignore', 'pipe', this.#log],
    });
    const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream });
    const line = await Promise.race([
      once(lines, 'line').then(([text]) => text as string),
      once(child, 'exit').then(() => undefined),
    ]);
    if (line === undefined) {
      if (this.#isClosed) return;
      this.failures.push(`A replica ended at its start, with ${child.exitCode ?? child.signalCode}.`);
      return this.#startOne();
    }
    const replica = { child, port: Number(new URL(line).port) };
    this.#running.add(replica);
    child.once('exit', () => {
      this.#running.delete(replica);
      if (!this.#isClosed) void this.#startOne();
    });
    if (this.#isClosed) child.kill('SIGKILL');
  }
}
