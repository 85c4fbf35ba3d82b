import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { send } from '../../../support/http/http.js';
import { ended } from '../../../support/processes.js';

/** A server in a process of its own. */
export interface Replica {
  readonly url: string;
  readonly child: ChildProcess;
  /** The status of `/ready`. */
  readonly readiness: () => Promise<number>;
  /** Ends the process as a service manager does. */
  readonly end: () => Promise<number | null>;
}

/** An effect that a replica has written to the ledger. */
export interface Effect {
  readonly job?: string;
  readonly step?: number;
  readonly payment?: string;
  readonly nonce: string;
  readonly key?: string;
}

/** The replicas of a test, and the file that all of them write their effects to. */
export class Replicas {
  readonly folder: string = mkdtempSync(join(tmpdir(), 'fullmcp-outage-'));
  readonly #ledger = join(this.folder, 'ledger');
  readonly #env: Readonly<Record<string, string>>;
  readonly #program: string;
  readonly #running = new Set<ChildProcess>();

  constructor(program: string, env: Readonly<Record<string, string>>) {
    this.#program = fileURLToPath(new URL(program, import.meta.url));
    this.#env = env;
    writeFileSync(this.#ledger, '');
  }

  /** The file whose existence keeps jobs in their second step. */
  get gate(): string {
    return join(this.folder, 'gate');
  }

  async start(env: Readonly<Record<string, string>> = {}): Promise<Replica> {
    const child = spawn(process.execPath, [this.#program], {
      env: {
        ...process.env,
        MCP_SECRET: 'the secret that all replicas of this test have',
        LEDGER: this.#ledger,
        STORE: join(this.folder, 'store'),
        GATE: this.gate,
        ...this.#env,
        ...env,
        PORT: '0',
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    this.#running.add(child);
    child.once('exit', () => this.#running.delete(child));
    const [url] = (await Promise.race([
      once(createInterface({ input: child.stdout }), 'line'),
      once(child, 'exit').then(([code]) =>
        Promise.reject(new Error(`A replica ended at once, with ${code}`)),
      ),
    ])) as [string];
    return {
      url,
      child,
      readiness: async () => (await send(url.replace('/mcp', '/ready'), { method: 'GET' })).status,
      end: () => ended(child, () => child.kill('SIGTERM')),
    };
  }

  /** The effects that happened, in their order. */
  effects(): readonly Effect[] {
    const lines = readFileSync(this.#ledger, 'utf8').split('\n').filter(Boolean);
    return lines.map((line) => JSON.parse(line) as Effect);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#running].map((child) => ended(child, () => child.kill('SIGKILL'))));
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}
