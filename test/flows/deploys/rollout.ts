// Releases of a server whose tools change with every release, under load, with clients that froze their list and tasks that wait.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { modern } from '../../support/http/modern.js';

export const RELEASES = Number(process.env['RELEASES'] ?? 6);
const REPLICAS = 2;
const LEASE_MS = 3000;
/** The releases after which a version is not served any more. */
const KEPT = 4;
/** A task of a version that is gone is migrated to the version of so many releases later. */
const MIGRATED = 5;
/** A task waits for at most so many releases. */
const LONGEST_WAIT = 6;

const fixture = fileURLToPath(new URL('../fixtures/release-server.mjs', import.meta.url));

interface Replica {
  readonly child: ChildProcess;
  readonly url: string;
}

interface Waiting {
  readonly taskId: unknown;
  readonly began: number;
  /** The release in which the task is answered. */
  readonly until: number;
}

interface Ended {
  readonly began: number;
  readonly ended: number;
  readonly answeredAt: number;
}

const extension = 'io.modelcontextprotocol/tasks';
const able = {
  'io.modelcontextprotocol/clientCapabilities': { elicitation: {}, extensions: { [extension]: {} } },
};

/** The processes of a server that is deployed again and again, and what its clients have seen. */
export class Rollout {
  readonly #env: Readonly<Record<string, string>>;
  readonly #folder: string = mkdtempSync(join(tmpdir(), 'fullmcp-releases-'));
  readonly #children = new Set<ChildProcess>();
  #replicas: readonly Replica[] = [];
  #newest = 1;
  #isOver = false;
  readonly #ids: string[] = [];
  readonly #ends: Ended[] = [];
  readonly #problems: string[] = [];
  #calls = 0;
  #older = 0;

  /** `env` has the address of the engine; without it, the processes share a store on disk. */
  constructor(env: Readonly<Record<string, string>> = {}) {
    this.#env = env;
  }

  /** Ends everything that is left. */
  close(): void {
    for (const child of this.#children) child.kill('SIGKILL');
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #start(release: number): Promise<Replica> {
    const args = [fixture, this.#folder, String(release), String(LEASE_MS)];
    const env = { ...process.env, ...this.#env };
    const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
    this.#children.add(child);
    void once(child, 'exit').finally(() => this.#children.delete(child));
    const [url] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
    return { child, url };
  }

  /** Sends a request to any process that the balancer knows. */
  async #ask(
    method: string,
    params: Record<string, unknown>,
    meta: Record<string, unknown> = {},
  ): Promise<Record<string, unknown>> {
    const { url } = this.#replicas[Math.floor(Math.random() * this.#replicas.length)] as Replica;
    const name = params['name'] ?? params['taskId'];
    const headers = name === undefined ? {} : { 'mcp-name': name as string };
    const { text } = await modern(url, method, params, { meta, headers });
    const { result, error } = JSON.parse(text) as { result?: Record<string, unknown>; error?: unknown };
    if (result === undefined) throw new Error(`${method}: ${JSON.stringify(error)}`);
    return result;
  }

  /** A client that lists the tools, and keeps the list for three releases. With `isTagging`, it says which list it has. */
  async #frozenClient(isTagging: boolean): Promise<void> {
    while (!this.#isOver) {
      const frozenAt = this.#newest;
      const list = await this.#ask('tools/list', {});
      const tools = list['tools'] as { name: string; inputSchema: { required: string[] } }[];
      const [argument = ''] = tools.find(({ name }) => name === 'search')?.inputSchema.required ?? [];
      const known = { 'io.modelcontextprotocol/knownTags': { 'tools/list': list['tag'] } };
      while (!this.#isOver && this.#newest - frozenAt < KEPT - 1) {
        await this.#search(argument, isTagging ? known : {});
        await setTimeout(5);
      }
    }
  }

  async #search(argument: string, meta: Record<string, unknown>): Promise<void> {
    const expected = `${argument.replace('query', '')} x`;
    const params = { name: 'search', arguments: { [argument]: 'x' } };
    const outcome = await this.#ask('tools/call', params, meta).catch(String);
    const text = JSON.stringify(typeof outcome === 'string' ? outcome : outcome['content']);
    const all = JSON.stringify(outcome);
    this.#calls++;
    if (all.includes('fullmcp/version') || all.includes('staleTags')) this.#older++;
    if (!text.includes(`"${expected}"`))
      this.#problems.push(`${argument} at release ${this.#newest}: ${text}`);
  }

  async #settled(taskId: unknown, statuses: readonly string[]): Promise<Record<string, unknown>> {
    for (;;) {
      const task = await this.#ask('tasks/get', { taskId }, able);
      if (statuses.includes(String(task['status']))) return task;
      await setTimeout(50);
    }
  }

  async #order(id: string): Promise<Waiting> {
    const { taskId } = await this.#ask('tools/call', { name: 'order', arguments: { id } }, able);
    await this.#settled(taskId, ['input_required']);
    const began = this.#newest;
    return { taskId, began, until: began + Math.floor(Math.random() * (LONGEST_WAIT + 1)) };
  }

  async #finish({ taskId }: Waiting): Promise<Ended> {
    const inputResponses = { sure: { action: 'accept', content: { ok: true } } };
    await this.#ask('tasks/update', { taskId, inputResponses }, able);
    const { status, result, error } = await this.#settled(taskId, ['completed', 'failed', 'cancelled']);
    expect([status, error]).toEqual(['completed', undefined]);
    const { structuredContent } = result as { structuredContent: { began: number; ended: number } };
    return { ...structuredContent, answeredAt: this.#newest };
  }

  /** Replaces the processes one after the other. The balancer forgets a process before it ends. */
  async #deploy(release: number): Promise<void> {
    for (const old of this.#replicas) {
      const next = await this.#start(release);
      this.#newest = release;
      this.#replicas = [...this.#replicas.filter((one) => one !== old), next];
      expect(await end(old)).toEqual([0, null]);
    }
  }

  /** Deploys all releases, under load. */
  async run(): Promise<void> {
    this.#replicas = await Promise.all(Array.from({ length: REPLICAS }, () => this.#start(1)));
    const clients = [false, false, true].map((isTagging) => this.#frozenClient(isTagging));
    let waiting: Waiting[] = [];
    for (let release = 1; release <= RELEASES + 1; release++) {
      for (const half of ['a', 'b']) this.#ids.push(`${release}${half}`);
      const deploying = release === 1 ? undefined : this.#deploy(release);
      // Tasks begin, and others are answered, while the processes are replaced.
      waiting.push(...(await Promise.all(this.#ids.slice(-2).map((id) => this.#order(id)))));
      const due = waiting.filter(({ until }) => until <= release);
      waiting = waiting.filter((one) => !due.includes(one));
      this.#ends.push(...(await Promise.all(due.map((one) => this.#finish(one)))));
      await deploying;
    }
    this.#ends.push(...(await Promise.all(waiting.map((one) => this.#finish(one)))));
    this.#isOver = true;
    await Promise.all(clients);
    await Promise.all(this.#replicas.map(end));
  }

  /** No call has failed, and each task has ended once, in the version that began it or in the one that it was migrated to. */
  check(): void {
    expect(this.#problems.slice(0, 5)).toEqual([]);
    expect(this.#older).toBeGreaterThan(0);
    const wrong = this.#ends.filter(
      ({ began, ended, answeredAt }) =>
        ended !== began && !(ended === began + MIGRATED && answeredAt - began >= KEPT),
    );
    expect(wrong).toEqual([]);
    const effects = readFileSync(join(this.#folder, 'effects'), 'utf8').trim().split('\n').sort();
    expect(effects).toEqual(this.#ids.flatMap((id) => [`reserve ${id}`, `ship ${id}`]).sort());
    expect(this.#ends).toHaveLength(this.#ids.length);
    const migrated = this.#ends.filter(({ began, ended }) => ended !== began).length;
    const [calls, older, tasks] = [this.#calls, this.#older, this.#ends.length];
    console.log({ releases: RELEASES, calls, older, tasks, migrated });
  }
}

async function end({ child }: Replica): Promise<unknown[]> {
  const exit = once(child, 'exit');
  child.kill('SIGTERM');
  return exit;
}
