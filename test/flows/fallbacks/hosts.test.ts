import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { HttpLine, type Line, PipeLine } from '../../support/fallbacks/host-lines.js';
import { HostPlayer, type Stage } from '../../support/fallbacks/host-player.js';
import { RECORDED_HOSTS, type RecordedHost } from '../../support/fallbacks/recorded-hosts.js';
import { ended } from '../../support/processes.js';

// Hosts as they were recorded, with a model that does what the results say. All processes of the server are killed whenever a call has
// shown something and its work is not finished.

const STEP_MS = 150;
const REPLICAS = 2;
const fixture = fileURLToPath(new URL('../fixtures/host-server.mjs', import.meta.url));
const root = mkdtempSync(join(tmpdir(), 'fullmcp-hosts-'));
const children = new Set<ChildProcess>();

afterAll(() => {
  for (const child of children) child.kill('SIGKILL');
  rmSync(root, { recursive: true, force: true });
});

/** The processes of a server: replicas that were started before, or those that a host starts. */
class Processes implements Stage {
  readonly #folder: string;
  #replicas: readonly { readonly child: ChildProcess; readonly url: string }[] = [];
  #started: readonly ChildProcess[] = [];
  #connections = 0;
  #killing: Promise<void> = Promise.resolve();
  kills = 0;

  constructor(folder: string) {
    this.#folder = folder;
  }

  readonly connect = async (host: RecordedHost): Promise<Line> => {
    await this.#killing;
    if (host.transport === 'stdio') return this.#startFor(host);
    if (this.#replicas.length === 0) await this.#startReplicas();
    const { url } = this.#replicas[this.#connections++ % REPLICAS] as { url: string };
    return new HttpLine(url, { 'x-user': host.title, ...host.headers }, host);
  };

  /** Kills all processes at once, and starts others if the host does not. */
  readonly onUnfinished = (): Promise<void> => {
    this.#killing = this.#killAll();
    return this.#killing;
  };

  async #killAll(): Promise<void> {
    const running = [...this.#replicas.map(({ child }) => child), ...this.#started];
    await Promise.all(running.map((child) => ended(child, () => child.kill('SIGKILL'))));
    this.kills += running.length;
    this.#started = [];
    if (this.#replicas.length > 0) await this.#startReplicas();
  }

  async #startReplicas(): Promise<void> {
    this.#replicas = await Promise.all(Array.from({ length: REPLICAS }, () => this.#startOne()));
  }

  async #startOne(): Promise<{ child: ChildProcess; url: string }> {
    const args = [fixture, this.#folder, String(STEP_MS)];
    const child = noted(spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] }));
    const [url] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
    return { child, url };
  }

  async #startFor({ env, twin }: RecordedHost): Promise<Line> {
    const start = (): PipeLine => new PipeLine([fixture, this.#folder, String(STEP_MS), 'stdio'], env);
    const lines = twin === undefined ? [start()] : [start(), start()];
    this.#started = lines.map(({ child }) => noted(child));
    const [line, other] = lines as [PipeLine, PipeLine?];
    if (other !== undefined) {
      const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: twin };
      const message = { jsonrpc: '2.0', id: 0, method: 'initialize', params };
      for await (const { result } of other.exchange(message)) expect(result.serverInfo.name).toBe('hosted');
    }
    return line;
  }
}

function noted<C extends ChildProcess>(child: C): C {
  children.add(child);
  void once(child, 'exit').finally(() => children.delete(child));
  return child;
}

describe.each(RECORDED_HOSTS.map((host) => [host.title, host] as const))('%s', (title, host) => {
  it('completes a long tool, a tool that asks, and one that does both, while all processes are killed', async () => {
    const folder = mkdtempSync(join(root, 'host-'));
    const processes = new Processes(folder);
    const player = new HostPlayer(host, processes);
    const finish = async (tool: string): Promise<unknown> => {
      const killed = processes.kills;
      const { text, data } = await player.finish(tool, { who: title });
      expect(processes.kills, `processes that were killed during ${tool}`).toBeGreaterThan(killed);
      return host.reads === 'data' && data !== undefined ? data : text;
    };
    expect(await finish('long')).toEqual(host.reads === 'data' ? { done: 4 } : '{"done":4}');
    expect(await finish('ask')).toBe('ordered L');
    expect(await finish('both')).toBe('L and L');
    await player.close();
    const lines = new Set(readFileSync(join(folder, 'effects'), 'utf8').trim().split('\n'));
    // A service that knows idempotency keys has seen each effect once.
    const effects = [...lines].map((line) => line.slice(title.length + 1).split(' ')[0]);
    expect(effects.sort()).toEqual([
      ...['ask', 'both1', 'both2', 'both3', 'long1', 'long2', 'long3', 'long4'],
    ]);
    for (const child of children) child.kill('SIGKILL');
  }, 180_000);
});
