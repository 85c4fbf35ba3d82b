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

// A process namespace of its own, which ends with the process that made it.
const container = ['--pid', '--fork', '--mount-proc', '--kill-child=KILL'];

/** Keeps the store open in a process namespace of its own, in a process with the id 1. Undefined if that is not possible here. */
export async function holdInContainer(path: string): Promise<{ kill: () => Promise<void> } | undefined> {
  const program = `
    const { lmdbStore } = await import(${JSON.stringify(lmdbEntry)});
    const store = lmdbStore(${JSON.stringify(path)});
    await store.get('a:g');
    console.log('opened');
    setInterval(() => undefined, 1000);`;
  const child = spawn('unshare', [...container, process.execPath, '--input-type=module', '-e', program]);
  const isOpen = await new Promise<boolean>((resolve) => {
    child.stdout.once('data', () => resolve(true));
    child.once('error', () => resolve(false));
    child.once('close', () => resolve(false));
  });
  // The output closes when every process of the namespace is gone.
  const kill = (): Promise<void> =>
    new Promise((resolve) => {
      child.once('close', () => resolve());
      child.kill('SIGKILL');
    });
  return isOpen ? { kill } : undefined;
}

/**
 * In a process namespace of its own: a process keeps the store open, another one that has it open is killed, and a third one gets the
 * id of the second. Resolves with what the third one printed.
 */
export function openWithIdOfKilled(path: string): Promise<string> {
  const open = `
    const { lmdbStore } = await import(${JSON.stringify(lmdbEntry)});
    try {
      const store = lmdbStore(${JSON.stringify(path)});
      await store.get('a:g');
      console.log('opened by', process.pid);
      if (process.argv[1] === 'stay') setInterval(() => undefined, 1000);
      else await store.close();
    } catch (error) {
      console.log(error.message);
    }`;
  const shell = `
    stay() { "$0" --input-type=module -e "$1" stay > "$2" & until [ -s "$2" ] || ! kill -0 $!; do sleep 0.05; done; }
    mkdir -p "$2"
    stay "$1" "$2/first"; first=$!
    stay "$1" "$2/second"; second=$!
    kill -9 $second; wait $second 2>/dev/null
    echo $((second - 1)) > /proc/sys/kernel/ns_last_pid || echo "no namespaces"
    "$0" --input-type=module -e "$1" > "$2/third"
    cat "$2/second" "$2/third"
    kill -9 $first`;
  const args = [...container, 'bash', '-c', shell, process.execPath, open, path];
  const child = spawn('unshare', args, { stdio: ['ignore', 'pipe', 'ignore'] });
  let output = '';
  child.stdout.on('data', (data: Buffer) => {
    output += data.toString();
  });
  return new Promise((resolve) => {
    child.on('error', () => resolve('no namespaces'));
    child.on('close', () => resolve(output.trim()));
  });
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
  const child = spawn('unshare', [...container, process.execPath, '--input-type=module', '-e', program]);
  let output = '';
  child.stdout.on('data', (data: Buffer) => {
    output += data.toString();
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', () => resolve(output.trim()));
  });
}
