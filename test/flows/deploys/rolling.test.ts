import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { modern } from '../../support/http/modern.js';

// Releases of a server whose tools change with every release, under load, with clients that froze their list and tasks that wait.

const RELEASES = Number(process.env['RELEASES'] ?? 6);
const REPLICAS = 2;
const LEASE_MS = 3000;
/** The releases after which a version is not served any more. */
const KEPT = 4;
/** A task of a version that is gone is migrated to the version of so many releases later. */
const MIGRATED = 5;
/** A task waits for at most so many releases. */
const LONGEST_WAIT = 6;

const fixture = fileURLToPath(new URL('../fixtures/release-server.mjs', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'fullmcp-releases-'));
const children = new Set<ChildProcess>();

afterAll(() => {
  for (const child of children) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

interface Replica {
  readonly child: ChildProcess;
  readonly url: string;
}

let replicas: readonly Replica[] = [];
let newest = 1;

async function start(release: number): Promise<Replica> {
  const args = [fixture, folder, String(release), String(LEASE_MS)];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  children.add(child);
  void once(child, 'exit').finally(() => children.delete(child));
  const [url] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  return { child, url };
}

/** Sends a request to any process that the balancer knows. */
async function ask(
  method: string,
  params: Record<string, unknown>,
  meta: Record<string, unknown> = {},
): Promise<Record<string, unknown>> {
  const { url } = replicas[Math.floor(Math.random() * replicas.length)] as Replica;
  const name = params['name'] ?? params['taskId'];
  const headers = name === undefined ? {} : { 'mcp-name': name as string };
  const { text } = await modern(url, method, params, { meta, headers });
  const { result, error } = JSON.parse(text) as { result?: Record<string, unknown>; error?: unknown };
  if (result === undefined) throw new Error(`${method}: ${JSON.stringify(error)}`);
  return result;
}

interface Load {
  calls: number;
  older: number;
  readonly problems: string[];
}

/** A client that lists the tools, and keeps the list for three releases. With `isTagging`, it says which list it has. */
async function frozenClient(load: Load, isOver: () => boolean, isTagging: boolean): Promise<void> {
  while (!isOver()) {
    const frozenAt = newest;
    const list = await ask('tools/list', {});
    const tools = list['tools'] as { name: string; inputSchema: { required: string[] } }[];
    const [argument = ''] = tools.find(({ name }) => name === 'search')?.inputSchema.required ?? [];
    const expected = `${argument.replace('query', '')} x`;
    const known = { 'io.modelcontextprotocol/knownTags': { 'tools/list': list['tag'] } };
    while (!isOver() && newest - frozenAt < KEPT - 1) {
      const params = { name: 'search', arguments: { [argument]: 'x' } };
      const outcome = await ask('tools/call', params, isTagging ? known : {}).catch(String);
      const text = JSON.stringify(typeof outcome === 'string' ? outcome : outcome['content']);
      load.calls++;
      if (
        JSON.stringify(outcome).includes('fullmcp/version') ||
        JSON.stringify(outcome).includes('staleTags')
      )
        load.older++;
      if (!text.includes(`"${expected}"`)) load.problems.push(`${argument} at release ${newest}: ${text}`);
      await setTimeout(5);
    }
  }
}

interface Waiting {
  readonly taskId: unknown;
  readonly began: number;
  /** The release in which the task is answered. */
  readonly until: number;
}

const extension = 'io.modelcontextprotocol/tasks';
const able = {
  'io.modelcontextprotocol/clientCapabilities': { elicitation: {}, extensions: { [extension]: {} } },
};

async function settled(taskId: unknown, statuses: readonly string[]): Promise<Record<string, unknown>> {
  for (;;) {
    const task = await ask('tasks/get', { taskId }, able);
    if (statuses.includes(String(task['status']))) return task;
    await setTimeout(50);
  }
}

async function order(id: string): Promise<Waiting> {
  const { taskId } = await ask('tools/call', { name: 'order', arguments: { id } }, able);
  await settled(taskId, ['input_required']);
  return { taskId, began: newest, until: newest + Math.floor(Math.random() * (LONGEST_WAIT + 1)) };
}

async function finish({ taskId }: Waiting): Promise<{ began: number; ended: number; answeredAt: number }> {
  const inputResponses = { sure: { action: 'accept', content: { ok: true } } };
  await ask('tasks/update', { taskId, inputResponses }, able);
  const { status, result, error } = await settled(taskId, ['completed', 'failed', 'cancelled']);
  expect([status, error]).toEqual(['completed', undefined]);
  const { began, ended } = (result as { structuredContent: { began: number; ended: number } })
    .structuredContent;
  return { began, ended, answeredAt: newest };
}

/** Replaces the processes one after the other. The balancer forgets a process before it ends. */
async function deploy(release: number): Promise<void> {
  for (const old of replicas) {
    const next = await start(release);
    newest = release;
    replicas = [...replicas.filter((one) => one !== old), next];
    const exit = once(old.child, 'exit');
    old.child.kill('SIGTERM');
    expect(await exit).toEqual([0, null]);
  }
}

test(`no call fails on a stale schema, and no task is lost or ends in the wrong version, in ${RELEASES} rolling deploys`, {
  timeout: 120_000 + RELEASES * 20_000,
}, async () => {
  replicas = await Promise.all(Array.from({ length: REPLICAS }, () => start(1)));
  const load: Load = { calls: 0, older: 0, problems: [] };
  let isOver = false;
  const clients = [false, false, true].map((isTagging) => frozenClient(load, () => isOver, isTagging));
  let waiting: Waiting[] = [];
  const ends: Awaited<ReturnType<typeof finish>>[] = [];
  const ids: string[] = [];
  for (let release = 1; release <= RELEASES + 1; release++) {
    for (const half of ['a', 'b']) ids.push(`${release}${half}`);
    const deploying = release === 1 ? undefined : deploy(release);
    // Tasks begin, and others are answered, while the processes are replaced.
    waiting.push(...(await Promise.all(ids.slice(-2).map(order))));
    const due = waiting.filter(({ until }) => until <= release);
    waiting = waiting.filter((one) => !due.includes(one));
    ends.push(...(await Promise.all(due.map(finish))));
    await deploying;
  }
  ends.push(...(await Promise.all(waiting.map(finish))));
  isOver = true;
  await Promise.all(clients);
  await Promise.all(
    replicas.map(async ({ child }) => {
      const exit = once(child, 'exit');
      child.kill('SIGTERM');
      await exit;
    }),
  );
  expect(load.problems.slice(0, 5)).toEqual([]);
  expect(load.older).toBeGreaterThan(0);
  const wrong = ends.filter(
    ({ began, ended, answeredAt }) =>
      ended !== began && !(ended === began + MIGRATED && answeredAt - began >= KEPT),
  );
  expect(wrong).toEqual([]);
  // Each of them had its effects once.
  const effects = readFileSync(join(folder, 'effects'), 'utf8').trim().split('\n').sort();
  expect(effects).toEqual(ids.flatMap((id) => [`reserve ${id}`, `ship ${id}`]).sort());
  expect(ends).toHaveLength(ids.length);
  const migrated = ends.filter(({ began, ended }) => ended !== began).length;
  console.log({ releases: RELEASES, calls: load.calls, older: load.older, tasks: ends.length, migrated });
});
