// The contract of a store that several processes share: a process that was paused for longer than its lease cannot write.

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import process from 'node:process';
import { createInterface } from 'node:readline';
import type { JsonObject } from '../../jsonrpc/message.js';
import { type OptionTable, readOptions } from '../../protocol/checks/options.js';
import type { Lease, Store, StoreChange, Written } from '../../state/store.js';
import { type ContractCase, eventually, uniqueName } from './contract.js';

/** The store that two processes share. */
export interface FenceContractOptions {
  /** The URL of a JavaScript module whose default export opens the store: `export default () => lmdbStore(path)`. */
  readonly module: string;
  /** The environment of the processes. Default: that of this process. */
  readonly env?: NodeJS.ProcessEnv;
}

const optionTable = {
  module: { is: 'string', required: true },
  env: 'object',
} as const satisfies OptionTable<FenceContractOptions>;

/**
 * Makes the cases that every store has to pass that processes share. They start two processes, and pause one with SIGSTOP for
 * longer than its lease. Not for Windows, which has no such signal.
 */
export function fenceContract(given: FenceContractOptions): readonly ContractCase[] {
  const options = readOptions('fenceContract', given, optionTable);
  return [
    {
      name: 'A process that was paused for longer than its lease cannot write, renew or release',
      run: () => withTwo(options, pausedHolder),
    },
    {
      name: 'A process that was killed loses its lease, and what it wrote stays',
      run: () => withTwo(options, killedHolder),
    },
  ];
}

const LEASE_MS = 500;

async function pausedHolder(a: StoreProcess, b: StoreProcess): Promise<void> {
  const { queue, key, stale } = await claimIn(a);
  a.child.kill('SIGSTOP');
  const [lease] = await claimedBy(b, queue);
  assert.ok(lease && lease.token > stale.token);
  a.child.kill('SIGCONT');
  const head = (await b.call('get', `head:${key}`)) as { readonly version: string };
  const attempts: readonly (readonly StoreChange[])[] = [
    [{ do: 'append', list: `journal:${key}`, name: 'another step', value: {} }],
    [{ do: 'put', key: `head:${key}`, value: { by: 'a' } }],
    [{ do: 'put', key: `head:${key}`, value: { by: 'a' }, if: { version: head.version } }],
    [{ do: 'release', inMs: 0 }],
  ];
  const assertFenced = async (): Promise<void> => {
    for (const changes of attempts)
      assert.deepEqual(await a.call('write', changes, { guard: stale }), { ok: false, refusedBy: 'guard' });
    assert.deepEqual(await a.call('renew', [stale], LEASE_MS), []);
  };
  await assertFenced();
  const done: readonly StoreChange[] = [{ do: 'dequeue', queue, key }];
  assert.deepEqual(await b.call('write', done, { guard: lease }), { ok: true });
  await assertFenced();
  await b.call('write', [{ do: 'enqueue', queue, key }]);
  await assertFenced();
  await claimedBy(b, queue);
  await assertFenced();
  const items = (await b.call('items', `journal:${key}`)) as readonly { readonly name: string }[];
  assert.deepEqual(
    items.map(({ name }) => name),
    ['step'],
  );
}

async function killedHolder(a: StoreProcess, b: StoreProcess): Promise<void> {
  const { queue, key } = await claimIn(a);
  a.child.kill('SIGKILL');
  const [lease] = await claimedBy(b, queue);
  assert.equal(lease?.attempt, 2);
  const items = (await b.call('items', `journal:${key}`)) as readonly { readonly name: string }[];
  assert.deepEqual(
    items.map(({ name }) => name),
    ['step'],
  );
}

/** Lets a process create work, claim it and record a step. */
async function claimIn(
  holder: StoreProcess,
): Promise<{ readonly queue: string; readonly key: string; readonly stale: Lease }> {
  const [queue, key] = [`q${uniqueName()}`, uniqueName()];
  await holder.call('write', [
    { do: 'put', key: `head:${key}`, value: {} },
    { do: 'enqueue', queue, key },
  ]);
  const [stale] = await claimedBy(holder, queue);
  const step = [{ do: 'append', list: `journal:${key}`, name: 'step', value: {} }];
  assert.deepEqual(await holder.call('write', step, { guard: stale }), { ok: true } satisfies Written);
  return { queue, key, stale: stale as Lease };
}

function claimedBy(holder: StoreProcess, queue: string): Promise<readonly Lease[]> {
  return eventually(`a key of ${queue} was due`, async () => {
    const leases = (await holder.call('claim', queue, {
      owner: 'contract',
      limit: 1,
      ms: LEASE_MS,
    })) as Lease[];
    return leases.length === 0 ? undefined : leases;
  });
}

async function withTwo(
  options: FenceContractOptions,
  test: (a: StoreProcess, b: StoreProcess) => Promise<void>,
): Promise<void> {
  const processes = [new StoreProcess(options), new StoreProcess(options)] as const;
  try {
    await Promise.all(processes.map((each) => each.call('size', 'ready')));
    await test(...processes);
  } finally {
    for (const { child } of processes) child.kill('SIGKILL');
    await Promise.all(
      processes.map(({ child }) => child.exitCode ?? child.signalCode ?? once(child, 'exit')),
    );
  }
}

// Reads calls of the store's methods as lines of JSON, and writes their results.
const script = `
import { createInterface } from 'node:readline';
const { default: open } = await import(process.argv[1]);
const store = await open();
for await (const line of createInterface({ input: process.stdin })) {
  const { method, args } = JSON.parse(line);
  const reply = await store[method](...args).then((result) => ({ result }), (error) => ({ error: String(error) }));
  process.stdout.write(JSON.stringify(reply) + '\\n');
}
`;

/** A process that has the store open. */
class StoreProcess {
  readonly child: ChildProcess;
  readonly #lines: AsyncIterator<string>;

  constructor({ module, env = process.env }: FenceContractOptions) {
    this.child = spawn(process.execPath, ['--input-type=module', '-e', script, module], {
      env,
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    // A process that is killed in the middle of a call closes its pipe.
    this.child.stdin?.on('error', () => undefined);
    this.#lines = createInterface({ input: this.child.stdout as NodeJS.ReadableStream })[
      Symbol.asyncIterator
    ]();
  }

  async call(method: keyof Store, ...args: readonly unknown[]): Promise<unknown> {
    this.child.stdin?.write(`${JSON.stringify({ method, args })}\n`);
    const { value, done } = await this.#lines.next();
    if (done === true) throw new Error('The process that has the store open has ended.');
    const { result, error } = JSON.parse(value) as JsonObject;
    if (error !== undefined) throw new Error(String(error));
    return result;
  }
}
