import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { type Client, type ConnectOptions, connect } from 'fullmcp/client';
import { afterAll, describe, expect, it } from 'vitest';
import { ended } from '../../support/processes.js';

// Hosts as they were recorded: their names, revisions, declarations and limits, with a model that does what the results say. All processes
// of the server are killed after each result that is not the last one.

const STEP_MS = 150;
const REPLICAS = 2;
const fixture = fileURLToPath(new URL('../fixtures/host-server.mjs', import.meta.url));
const root = mkdtempSync(join(tmpdir(), 'fullmcp-hosts-'));
const children = new Set<ChildProcess>();

afterAll(() => {
  for (const child of children) child.kill('SIGKILL');
  rmSync(root, { recursive: true, force: true });
});

type Host = Pick<ConnectOptions, 'revision' | 'elicit'> & {
  readonly name: string;
  readonly userAgent?: string;
};

const answer = () => ({ action: 'accept' as const, content: { size: 'L' } });
const cancel = () => ({ action: 'cancel' as const });
/** A host that declares forms, and shows them to nobody. */
const drop = () => new Promise<never>(() => undefined);

// In 2025-11-25 the client of this test would ask for tasks, which only VS Code does.
const hosts: readonly (readonly [string, Host])[] = [
  ['ChatGPT', { name: 'openai-mcp', revision: '2025-06-18' }],
  ['claude.ai', { name: 'Anthropic/ClaudeAI', revision: '2025-06-18' }],
  ['Claude Desktop', { name: 'local-agent-mode-hosted', revision: '2025-06-18', elicit: drop }],
  ['Cowork', { name: 'claude-code', userAgent: 'claude-code/2.1.273 (remote_cowork)', elicit: drop }],
  [
    'Claude Code without a terminal',
    {
      ...{ name: 'claude-code', userAgent: 'claude-code/2.1.326 (sdk-cli)' },
      ...{ revision: '2025-06-18', elicit: cancel },
    },
  ],
  ['VS Code', { name: 'Visual Studio Code', revision: '2025-11-25', elicit: answer }],
  ['Codex', { name: 'codex-mcp-client', revision: '2025-06-18', elicit: answer }],
  ['Gemini CLI', { name: 'gemini-cli-mcp-client', revision: '2025-06-18' }],
  ['Goose', { name: 'goose-desktop', elicit: answer }],
  ['n8n', { name: '@n8n/n8n-nodes-langchain.mcpClientTool', revision: '2025-06-18' }],
];

class Replicas {
  readonly #folder: string;
  #running: { child: ChildProcess; url: string }[] = [];
  #calls = 0;
  kills = 0;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async start(): Promise<void> {
    this.#running = await Promise.all(Array.from({ length: REPLICAS }, () => startOne(this.#folder)));
  }

  /** Kills all processes at once, and starts others. */
  async killAll(): Promise<void> {
    await Promise.all(this.#running.map(({ child }) => ended(child, () => child.kill('SIGKILL'))));
    this.kills += REPLICAS;
    await this.start();
  }

  get url(): string {
    return this.#running[this.#calls++ % REPLICAS]?.url ?? '';
  }
}

async function startOne(folder: string): Promise<{ child: ChildProcess; url: string }> {
  const child = spawn(process.execPath, [fixture, folder, String(STEP_MS)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.add(child);
  void once(child, 'exit').finally(() => children.delete(child));
  const [url] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  return { child, url };
}

/** One call of a host. Each is a connection of its own, as those of hosts in a cloud are. */
async function call(url: string, { name, userAgent, ...host }: Host, tool: string, args: object) {
  const client: Client = await connect(url, {
    ...host,
    client: { name, version: '1.0.0' },
    headers: { 'x-user': name, ...(userAgent !== undefined && { 'user-agent': userAgent }) },
    connectTimeoutMs: 20_000,
  });
  try {
    // The output schemas are known from here on, and results are validated with them.
    await client.tools().all();
    return await client.callTool(tool, args);
  } finally {
    await client.close();
  }
}

/** Calls a tool as the model of the host would, and kills the server whenever there is no result yet. */
async function finish(
  replicas: Replicas,
  host: Host,
  tool: string,
): Promise<{ text: string; data: unknown }> {
  let next: readonly [string, object] = [tool, { who: host.name }];
  for (let calls = 0; calls < 40; calls++) {
    const result = await call(replicas.url, host, ...next);
    const { status, task, questions } = (result.data ?? {}) as {
      status?: string;
      task?: string;
      questions?: Record<string, object>;
    };
    if (status === undefined) return { text: result.text, data: result.data };
    if (calls < 4) await replicas.killAll();
    const [question] = Object.keys(questions ?? {});
    next =
      question === undefined
        ? ['continue_task', { task }]
        : ['answer_question', { task, question, answer: { size: 'L' } }];
  }
  throw new Error(`${tool} has no end in ${host.name}`);
}

describe.each(hosts)('%s', (_title, host) => {
  it('completes a long tool, a tool that asks, and one that does both, while all processes are killed', async () => {
    const folder = mkdtempSync(join(root, 'host-'));
    const replicas = new Replicas(folder);
    await replicas.start();
    expect((await finish(replicas, host, 'long')).data).toEqual({ done: 4 });
    expect((await finish(replicas, host, 'ask')).text).toBe('ordered L');
    expect((await finish(replicas, host, 'both')).text).toBe('L and L');
    expect(replicas.kills).toBeGreaterThan(0);
    const effects = new Set(readFileSync(join(folder, 'effects'), 'utf8').trim().split('\n'));
    // A service that knows idempotency keys has seen each effect once.
    const names = [...effects].map((line) => line.slice(host.name.length + 1).split(' ')[0]);
    expect(names.sort()).toEqual(['ask', 'both1', 'both2', 'both3', 'long1', 'long2', 'long3', 'long4']);
    for (const child of children) child.kill('SIGKILL');
  }, 120_000);
});
