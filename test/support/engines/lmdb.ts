import { type ChildProcess, fork, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { LmdbStoreOptions } from 'fullmcp/lmdb';
import type { Store } from '../../../src/state/store.js';
import { ended } from '../processes.js';
import { soon } from '../until.js';

const script = fileURLToPath(new URL('../../fixtures/lmdb-process.js', import.meta.url));
/** The built entry `fullmcp/lmdb`, for processes that a test starts. */
export const lmdbEntry: string = new URL('../../../dist/lmdb.js', import.meta.url).href;

interface Reply {
  readonly id?: number;
  readonly result?: unknown;
  readonly error?: unknown;
  readonly acknowledged?: number;
}

/** A process of its own that has the store at `path` open. */
export class LmdbProcess {
  readonly child: ChildProcess;
  /** The last write of the job `writeForever` that was acknowledged. */
  acknowledged = -1;
  readonly #calls = new Map<number, (reply: Reply) => void>();
  #last = 0;

  private constructor(child: ChildProcess) {
    this.child = child;
    child.on('message', (reply: Reply) => {
      if (reply.acknowledged !== undefined) this.acknowledged = reply.acknowledged;
      if (reply.id !== undefined) this.#calls.get(reply.id)?.(reply);
    });
  }

  /** Starts a process and waits until it has the store open. */
  static async start(path: string, options: LmdbStoreOptions = {}): Promise<LmdbProcess> {
    const args = [lmdbEntry, path, JSON.stringify(options)];
    const child = fork(script, args, {
      serialization: 'advanced',
      stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
    });
    let errors = '';
    child.stderr?.on('data', (data: Buffer) => {
      errors += data.toString();
    });
    const ready = new Promise<void>((resolve, reject) => {
      child.once('message', () => resolve());
      child.once('close', () => reject(new Error(errors)));
    });
    await soon('A process with the store open', ready);
    return new LmdbProcess(child);
  }

  /** Does a job of the process, see the fixture. */
  do(job: string, ...args: readonly unknown[]): Promise<unknown> {
    const id = ++this.#last;
    this.child.send({ id, method: job, args });
    return new Promise((resolve, reject) => {
      this.#calls.set(id, ({ result, error }) => {
        this.#calls.delete(id);
        if (error === undefined) resolve(result);
        else reject(error);
      });
    });
  }

  /** The store, as this process has it open. Closing it ends the process. */
  get store(): Store {
    const call =
      (method: string) =>
      (...args: readonly unknown[]) =>
        this.do(method, ...args) as never;
    return {
      get: call('get'),
      page: call('page'),
      items: call('items'),
      write: call('write'),
      claim: call('claim'),
      renew: call('renew'),
      size: call('size'),
      close: () => this.end('SIGTERM'),
    };
  }

  /** Ends the process with a signal, even if it is stopped. */
  async end(signal: 'SIGTERM' | 'SIGKILL' = 'SIGKILL'): Promise<void> {
    await ended(this.child, () => this.child.kill(signal));
  }
}

/** Opens the store in a process namespace of its own, as in another container. Resolves with what the process printed. */
export function openInContainer(path: string): Promise<string> {
  const program = `
    const { lmdbStore } = await import(${JSON.stringify(lmdbEntry)});
    try {
      const store = lmdbStore(${JSON.stringify(path)});
      console.log('opened', (await store.get('a:g'))?.value.n);
      await store.close();
    } catch (error) {
      console.log(error.message);
    }`;
  const child = spawn('unshare', [
    '--pid',
    '--fork',
    '--mount-proc',
    process.execPath,
    '--input-type=module',
    '-e',
    program,
  ]);
  let output = '';
  child.stdout.on('data', (data: Buffer) => {
    output += data.toString();
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', () => resolve(output.trim()));
  });
}
