import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { verifyAuditFile } from 'fullmcp/node';
import { afterAll, describe, expect, it } from 'vitest';
import { modern } from '../../../../support/http/modern.js';
import { ended } from '../../../../support/processes.js';
import { until } from '../../../../support/until.js';

const KILLS = Number(process.env['KILLS'] ?? 3);
const CALLERS = 10;

const fixture = fileURLToPath(new URL('../../../../fixtures/audit-server.js', import.meta.url));
const dist = fileURLToPath(new URL('../../../../../dist/', import.meta.url));
const root = mkdtempSync(join(tmpdir(), 'fullmcp-audit-flow-'));
const secret = 'a secret of more than 32 characters';
const children = new Set<ChildProcess>();
let logs = 0;

afterAll(() => {
  for (const child of children) child.kill('SIGKILL');
  rmSync(root, { recursive: true, force: true });
});

interface Log {
  readonly path: string;
  readonly ran: string;
}

function fresh(): Log {
  const folder = join(root, `${++logs}`);
  mkdirSync(folder);
  return { path: join(folder, 'audit.jsonl'), ran: join(folder, 'ran') };
}

async function start({ path, ran }: Log, options: object = {}) {
  const args = [fixture, path, JSON.stringify({ ran, ...options })];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  children.add(child);
  let errors = '';
  child.stderr.on('data', (chunk) => {
    errors += chunk;
  });
  const lines = createInterface({ input: child.stdout });
  const exit = once(child, 'exit').then(() => Promise.reject(new Error(errors)));
  exit.catch(() => undefined);
  const [url] = (await Promise.race([once(lines, 'line'), exit])) as [string];
  /** The numbers of the calls that were answered. */
  const answered: number[] = [];
  const note = async (n: number, ms = 0, text = ''): Promise<void> => {
    const { status } = await modern(url, 'tools/call', { name: 'note', arguments: { n, ms, text } });
    if (status === 200) answered.push(n);
  };
  return {
    child,
    path: path.replace('{pid}', String(child.pid)),
    answered,
    note,
    stop: () => ended(child, () => child.kill('SIGTERM')),
  };
}

const entriesOf = ({ path }: Log): { type: string; params?: { arguments: { n: number } } }[] =>
  readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

const recorded = (log: Log, type: string): Set<number> =>
  new Set(
    entriesOf(log).flatMap((entry) => (entry.type === type ? [entry.params?.arguments.n as number] : [])),
  );

/** Calls all the time from several callers, until the process is killed after `after` calls. */
async function kill(
  { child, answered, note }: Pick<Awaited<ReturnType<typeof start>>, 'child' | 'answered' | 'note'>,
  from: number,
  after: number,
): Promise<void> {
  let n = from;
  let isOver = false;
  const callers = Array.from({ length: CALLERS }, async () => {
    while (!isOver) await note(n++).catch(() => undefined);
  });
  await until(`${after} calls are answered`, () => answered.length >= after);
  await ended(child, () => child.kill('SIGKILL'));
  isOver = true;
  await Promise.all(callers);
}

describe('the audit log of a process that is killed', () => {
  it('has every call that was answered, and the next process continues it', async () => {
    const log = fresh();
    const answered: number[] = [];
    for (let life = 0; life < KILLS; life++) {
      const server = await start(log);
      await kill(server, life * 1e6, 50 + life * 37);
      answered.push(...server.answered);
      expect((await verifyAuditFile(log.path, { secret })).problems).toEqual([]);
    }
    await (await start(log)).stop();
    expect((await verifyAuditFile(log.path, { secret })).problems).toEqual([]);
    const calls = recorded(log, 'call');
    expect(answered.filter((n) => !calls.has(n))).toEqual([]);
  });

  it('has every call that ran if it writes them before', async () => {
    const log = fresh();
    for (let life = 0; life < KILLS; life++)
      await kill(await start(log, { intent: true }), life * 1e6, 50 + life * 37);
    const report = await verifyAuditFile(log.path, { secret });
    expect(report.problems).toEqual([]);
    const starts = recorded(log, 'start');
    const ran = readFileSync(log.ran, 'utf8').trimEnd().split('\n').map(Number);
    expect(ran.length).toBeGreaterThan(50);
    expect(ran.filter((n) => !starts.has(n))).toEqual([]);
  });
});

describe('the audit logs of replicas of which one is killed', () => {
  it('are whole: that of the killed one up to its last line, and that of the other one', async () => {
    const { path, ran } = fresh();
    // Small files, so that the kill also hits the moment at which one is renamed, and large entries, of which a kill writes half.
    const options = { intent: true, file: { maxBytes: 100_000 } };
    for (let life = 0; life < KILLS; life++) {
      const shared = { path: path.replace('.jsonl', '-{pid}.jsonl'), ran };
      const [first, second] = await Promise.all([start(shared, options), start(shared, options)]);
      const text = 'x'.repeat(30_000);
      const large = { ...first, note: (n: number) => first.note(n, 0, text) };
      const other = Promise.all(Array.from({ length: 50 }, (_, n) => second.note(n)));
      await kill(large, life * 1e6, 40 + life * 17);
      await other;
      const dead = await verifyAuditFile(first.path, { secret });
      expect(dead).toMatchObject({ ok: true, problems: [], lost: 0 });
      // A start and an end for each call that was answered, and the first entry.
      expect(dead.entries).toBeGreaterThan(2 * first.answered.length);
      const alive = await verifyAuditFile(second.path, { secret });
      expect(alive).toMatchObject({ ok: true, problems: [], torn: 0, lost: 0, unfinished: [] });
      expect(alive.entries).toBe(101);
      await second.stop();
      expect(await verifyAuditFile(second.path, { secret })).toMatchObject({ ok: true, torn: 0 });
    }
  });

  it('can be verified at every length of a torn last line, before and after the next process continues them', async () => {
    const log = fresh();
    const server = await start(log);
    await kill(server, 0, 20);
    const whole = await verifyAuditFile(log.path, { secret });
    const bytes = readFileSync(log.path);
    const last = bytes.subarray(bytes.lastIndexOf(10, bytes.length - 2) + 1);
    // A line that was never acknowledged, and therefore is not in the head either.
    for (const length of [1, 10, 60, last.length - 60, last.length - 2]) {
      writeFileSync(log.path, Buffer.concat([bytes, last.subarray(0, length)]));
      const torn = await verifyAuditFile(log.path, { secret });
      expect(torn, `${length} bytes`).toEqual({ ...whole, torn: whole.torn + 1 });
    }
    const next = await start(log);
    await next.note(1e6);
    await next.stop();
    const report = await verifyAuditFile(log.path, { secret });
    expect(report).toMatchObject({ ok: true, problems: [], torn: whole.torn + 1 });
    expect(report.entries).toBeGreaterThan(whole.entries);
  });
});

describe('the audit log of a process that is stopped', () => {
  it('has the calls that the process finished while it was draining', async () => {
    const log = fresh();
    const server = await start(log);
    const calls = Promise.all([1, 2, 3, 4, 5].map((n) => server.note(n, 300)));
    await until(
      'all calls run',
      () => existsSync(log.ran) && readFileSync(log.ran, 'utf8').split('\n').length > 5,
    );
    await server.stop();
    await calls;
    expect(server.answered.toSorted()).toEqual([1, 2, 3, 4, 5]);
    expect([...recorded(log, 'call')].toSorted()).toEqual([1, 2, 3, 4, 5]);
    expect((await verifyAuditFile(log.path, { secret })).ok).toBe(true);
  });
});

describe('the audit log of two processes', () => {
  it('is open in one of them; the other one does not start, and says what to do', async () => {
    const log = fresh();
    const first = await start(log);
    await expect(start(log)).rejects.toThrow(
      `The audit log ${log.path} is in use by process ${first.child.pid}. Give each process a file of its own: {pid} in \`path\`.`,
    );
    await first.note(1);
    await first.stop();
    await (await start(log)).stop();
    expect((await verifyAuditFile(log.path, { secret })).problems).toEqual([]);
  });
});

describe('the audit log on a full disk', () => {
  it.each(['refuse', 'continue'])(
    'with "%s", loses nothing and continues when there is room',
    async (onFailure) => {
      const disk = join(root, `disk-${onFailure}`);
      mkdirSync(disk);
      const script = `
      import { writeFileSync, rmSync } from 'node:fs';
      import { createServer, tool } from ${JSON.stringify(join(dist, 'index.js'))};
      import { audit } from ${JSON.stringify(join(dist, 'middleware.js'))};
      import { auditFile, verifyAuditFile } from ${JSON.stringify(join(dist, 'node.js'))};
      import { testClient } from ${JSON.stringify(join(dist, 'testing.js'))};
      const [disk, onFailure, secret] = process.argv.slice(1);
      const path = disk + '/audit.jsonl';
      const logged = [];
      let ran = 0;
      const server = createServer({
        name: 'full', version: '1.0.0', logger: (level, message, error) => logged.push(level + ': ' + message + ' ' + error?.code),
        use: [audit({ to: auditFile({ path, secret }), onFailure, when: ({ method }) => method === 'tools/call' })],
        tools: { note: tool({ run: () => ++ran }) },
      });
      const client = await testClient(server);
      const call = () => client.callTool('note').then(() => 'ok', ({ code }) => code);
      const ends = [await call()];
      writeFileSync(disk + '/ballast', Buffer.alloc(900_000));
      try { for (let n = 0; ; n++) writeFileSync(disk + '/ballast-' + n, Buffer.alloc(4096)); } catch {}
      for (let n = 0; n < 40; n++) ends.push(...(await Promise.all([call(), call(), call()])));
      const whileFull = ran;
      rmSync(disk + '/ballast');
      ends.push(await call());
      await client.close();
      await server.close();
      const report = await verifyAuditFile(path, { secret });
      console.log(JSON.stringify({ ends, ran, whileFull, report, logged }));`;
      const mounted = ['--mount', 'sh', '-c', 'mount -t tmpfs -o size=1m tmpfs "$0" && exec "$@"', disk];
      const program = [process.execPath, '--input-type=module', '-e', script, disk, onFailure, secret];
      const result = await promisify(execFile)('unshare', [...mounted, ...program]).catch(({ stderr }) =>
        String(stderr),
      );
      if (typeof result === 'string') {
        expect(result).toMatch(/unshare|mount/);
        return;
      }
      const { ends, ran, report, logged } = JSON.parse(result.stdout);
      expect(report).toMatchObject({ ok: true, problems: [], lost: 0, torn: 0, entries: ran + 1 });
      expect(ends[0]).toBe('ok');
      expect(ends.at(-1)).toBe('ok');
      expect(logged).toEqual([
        expect.stringMatching(/^error: The audit log cannot be written: .* ENOSPC$/),
        expect.stringMatching(/^info: The audit log is written again/),
      ]);
      expect(new Set(ends)).toEqual(
        new Set(onFailure === 'refuse' ? ['ok', 'internal_error', 'overloaded'] : ['ok']),
      );
      if (onFailure === 'continue') expect(ran).toBe(122);
      else expect(ran).toBe(ends.filter((end: string) => end !== 'overloaded').length);
    },
  );
});
