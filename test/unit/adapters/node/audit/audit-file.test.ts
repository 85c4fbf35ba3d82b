import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { AuditEntry, AuditSink } from 'fullmcp/middleware';
import { verifyAudit } from 'fullmcp/middleware';
import { type AuditFileOptions, auditFile, verifyAuditFile } from 'fullmcp/node';
import { afterAll, describe, expect, it } from 'vitest';
import { expectMode } from '../../../../support/modes.js';

const root = mkdtempSync(join(tmpdir(), 'fullmcp-audit-'));
const secret = 'a secret of more than 32 characters';
let logs = 0;
const fresh = (): string => join(root, `${++logs}`, 'audit.jsonl');

afterAll(() => rmSync(root, { recursive: true, force: true }));

const entry = (call: number): AuditEntry => ({
  type: 'call',
  at: new Date().toISOString(),
  call,
  method: 'tools/call',
  name: 'pay',
  caller: { subject: 'ada' },
  params: { arguments: { note: 'übermäßig 漢字'.repeat(call % 7) } },
  outcome: 'ok',
  ms: 1,
});

const messages: string[] = [];

/** Runs `work` with an open log, and closes it. */
async function opened(options: AuditFileOptions, work: (sink: AuditSink) => unknown): Promise<void> {
  const sink = auditFile(options);
  await sink.open?.((level, message) => messages.push(`${level}: ${message}`));
  try {
    await work(sink);
  } finally {
    await sink.close?.();
  }
}

/** Writes a number of entries, some at a time. */
async function fill(path: string, count: number, more: Partial<AuditFileOptions> = {}): Promise<void> {
  await opened({ path, secret, ...more }, async ({ write }) => {
    for (let n = 1; n <= count; n += 3)
      await write([n, n + 1, n + 2].filter((call) => call <= count).map(entry));
  });
}

const verify = (path: string) => verifyAuditFile(path, { secret });
const codes = async (path: string) => (await verify(path)).problems.map(({ code }) => code);
const linesOf = (path: string) => readFileSync(path, 'utf8').trimEnd().split('\n');
const headOf = (path: string) => readFileSync(`${path}.head`, 'utf8');
const write = (path: string, lines: readonly string[]) => writeFileSync(path, `${lines.join('\n')}\n`);

describe('an audit log in a file', () => {
  it('has a line for each entry, which only its owner can read', async () => {
    const path = fresh();
    await fill(path, 4);
    const lines = linesOf(path).map((line) => JSON.parse(line));
    expect(lines.map(({ seq, type, call }) => [seq, type, call])).toEqual([
      [1, 'open', undefined],
      [2, 'call', 1],
      [3, 'call', 2],
      [4, 'call', 3],
      [5, 'call', 4],
    ]);
    expectMode(path, 0o600);
    expectMode(`${path}.head`, 0o600);
    expect(await verify(path)).toMatchObject({ ok: true, entries: 5, head: { seq: 5 } });
    // The portable function agrees.
    expect(await verifyAudit(linesOf(path), { secret, head: headOf(path) })).toMatchObject({
      ok: true,
      entries: 5,
    });
  });

  it('warns that it has no secret', async () => {
    const path = fresh();
    messages.length = 0;
    await fill(path, 1, { secret: undefined });
    expect(messages).toEqual([
      expect.stringMatching(/^warning: .* has no secret: anybody who can write to it/),
    ]);
    expect((await verifyAuditFile(path)).ok).toBe(true);
  });

  it('is continued by the next process', async () => {
    const path = fresh();
    await fill(path, 3);
    await fill(path, 2, { sync: true });
    expect(await verify(path)).toMatchObject({ ok: true, entries: 7, problems: [] });
    expect(linesOf(path).map((line) => JSON.parse(line).type)).toEqual([
      'open',
      'call',
      'call',
      'call',
      'open',
      'call',
      'call',
    ]);
  });

  it.each(['x'.repeat(32), '~ !'.repeat(20), 'x'.repeat(65), 'schlüssel '.repeat(5), '漢'.repeat(40)])(
    'has the hashes of every runtime, with the secret %s',
    async (key) => {
      const path = fresh();
      await fill(path, 5, { secret: key });
      const head = headOf(path);
      expect(await verifyAudit(linesOf(path), { secret: key, head })).toMatchObject({ ok: true, entries: 6 });
      expect((await verifyAuditFile(path, { secret: key })).ok).toBe(true);
      expect((await verifyAuditFile(path, { secret: `${key}.` })).ok).toBe(false);
    },
  );

  it('may have {pid} and {host} in its name', async () => {
    const path = join(dirname(fresh()), 'audit-{host}-{pid}.jsonl');
    await fill(path, 1);
    const [name] = readdirSync(dirname(path)).filter((file) => file.endsWith('.jsonl'));
    expect(name).toMatch(new RegExp(`^audit-.+-${process.pid}\\.jsonl$`));
    expect(await verify(join(dirname(path), name as string))).toMatchObject({ ok: true, entries: 2 });
  });

  it('shows a line that was changed, removed, moved or cut off', async () => {
    const path = fresh();
    await fill(path, 6);
    const lines = linesOf(path);
    write(path, lines.with(3, (lines[3] as string).replace('"ada"', '"eve"')));
    expect(await codes(path)).toEqual(['changed']);
    write(path, lines.toSpliced(3, 1));
    expect(await codes(path)).toEqual(['missing']);
    write(path, lines.toSpliced(3, 2, lines[4] as string, lines[3] as string));
    expect(await codes(path)).toEqual(['missing', 'reordered', 'missing']);
    write(path, lines.slice(0, -1));
    expect(await codes(path)).toEqual(['truncated']);
    write(path, lines.slice(0, -1));
    truncateSync(path, statSync(path).size - 5);
    expect(await codes(path)).toEqual(['unreadable', 'truncated']);
    rmSync(path);
    expect(await codes(path)).toEqual(['truncated']);
    write(path, lines);
    expect(await codes(path)).toEqual([]);
  });

  it('shows a head that was removed, changed, or forged with another secret', async () => {
    const path = fresh();
    await fill(path, 3);
    const head = headOf(path);
    writeFileSync(`${path}.head`, head.replace('"seq":4', '"seq":2'));
    expect(await codes(path)).toEqual(['head']);
    rmSync(`${path}.head`);
    expect(await codes(path)).toEqual(['head']);
    expect((await verifyAuditFile(path, { secret, head })).ok).toBe(true);
  });

  it('does not show that the log and its head were both put back to an earlier state, except with a head that was kept', async () => {
    const path = fresh();
    await fill(path, 3);
    const [log, head] = [readFileSync(path), headOf(path)];
    await fill(path, 3);
    const kept = (await verify(path)).head;
    writeFileSync(path, log);
    writeFileSync(`${path}.head`, head);
    expect(await codes(path)).toEqual([]);
    expect((await verifyAuditFile(path, { secret, head: kept })).problems.map(({ code }) => code)).toEqual([
      'truncated',
    ]);
  });

  it('says so for good when its end was cut off before the next process continues it', async () => {
    const path = fresh();
    await fill(path, 6);
    write(path, linesOf(path).slice(0, -2));
    messages.length = 0;
    await fill(path, 1);
    expect(messages).toEqual([
      expect.stringMatching(/^error: .* ends with entry 5, but had 7: its end was cut off/),
    ]);
    expect(await verify(path)).toMatchObject({
      ok: false,
      problems: [{ code: 'missing', line: 6, message: 'Entries 6 to 7 are missing.' }],
    });
    expect(JSON.parse(linesOf(path)[5] as string)).toMatchObject({ seq: 8, type: 'open', cut: true });
  });

  it('shows for good that its end may have been cut off together with its head', async () => {
    for (const spoil of [
      (path: string) => rmSync(`${path}.head`),
      (path: string) => writeFileSync(`${path}.head`, 'nonsense'),
    ]) {
      const path = fresh();
      await fill(path, 6);
      write(path, linesOf(path).slice(0, -2));
      spoil(path);
      await fill(path, 3);
      expect(await codes(path)).toEqual(['head']);
    }
    // A crash right after the first line of a new log is not such a case.
    const path = fresh();
    await fill(path, 0);
    const { seq } = JSON.parse(headOf(path));
    expect(seq).toBe(1);
    rmSync(path);
    await fill(path, 2);
    expect(await codes(path)).toEqual(['missing']);
  });

  it('tells the operator when it was changed, lost its head or has another secret', async () => {
    const path = fresh();
    await fill(path, 3);
    write(
      path,
      linesOf(path).map((line) => line.replace('"call":2', '"call":7')),
    );
    rmSync(`${path}.head`);
    messages.length = 0;
    await fill(path, 1);
    expect(messages).toEqual([
      expect.stringContaining('was changed at entry 3'),
      expect.stringContaining('has lost its head file'),
    ]);
    expect(await codes(path)).toEqual(['changed', 'head']);
    messages.length = 0;
    await fill(path, 1, { secret: 'another secret, of 32 characters or more' });
    expect(messages).toEqual([
      expect.stringContaining('was changed'),
      expect.stringContaining('head file that was changed'),
    ]);
  });

  it.each([1, 20, 200])('marks a line that a crash has torn, %d characters from its end', async (chars) => {
    const path = fresh();
    await fill(path, 5);
    const size = statSync(path).size;
    const head = headOf(path);
    await opened({ path, secret }, ({ write }) => write([entry(6)]));
    // As after a crash in the middle of the write: the head is not written yet.
    truncateSync(path, statSync(path).size - chars);
    writeFileSync(`${path}.head`, head);
    expect(statSync(path).size).toBeGreaterThan(size);
    await fill(path, 2);
    expect(await verify(path)).toMatchObject({ ok: true, problems: [], torn: chars === 1 ? 0 : 1 });
    // The remains cannot be changed either.
    const changed = readFileSync(path, 'utf8').replace('"call":6', '"call":9');
    writeFileSync(path, changed);
    if (chars < 200) expect(await codes(path)).not.toEqual([]);
  });

  it('marks bytes that are not UTF-8, and zeros after a power failure', async () => {
    const path = fresh();
    await fill(path, 2);
    appendFileSync(path, Buffer.from([0, 0, 0x0a, 0xc3, 0x28, 0x0a, 0x0a, 0xe6, 0xbc]));
    expect(await verify(path)).toMatchObject({ ok: true, torn: 1 });
    await fill(path, 2);
    expect(await verify(path)).toMatchObject({ ok: true, torn: 1, entries: 6 });
  });

  it('begins another file when the current one is full, and the chain continues', async () => {
    const path = fresh();
    await fill(path, 40, { maxBytes: 2000 });
    const numbers = readdirSync(dirname(path)).filter((name) => /\.\d+$/.test(name));
    expect(numbers.length).toBeGreaterThan(3);
    expect(await verify(path)).toMatchObject({ ok: true, entries: 41 + numbers.length });
    await fill(path, 10, { maxBytes: 2000 });
    expect((await verify(path)).ok).toBe(true);
    // A file in the middle is removed.
    const third = `${path}.3`;
    renameSync(third, `${third}.away`);
    expect(await codes(path)).toEqual(['missing']);
    renameSync(`${third}.away`, third);
    // Old files are removed on purpose.
    rmSync(`${path}.1`);
    rmSync(`${path}.2`);
    expect(await codes(path)).toEqual(['missing']);
    expect(await verifyAuditFile(path, { secret, mayLackStart: true })).toMatchObject({ ok: true });
    rmSync(path);
    expect((await verifyAuditFile(path, { secret, mayLackStart: true })).problems).toMatchObject([
      { code: 'truncated' },
    ]);
  });

  it('continues after a crash between the renaming of a file and the beginning of the next one', async () => {
    const path = fresh();
    await fill(path, 3);
    renameSync(path, `${path}.1`);
    await fill(path, 3);
    expect(await verify(path)).toMatchObject({ ok: true, entries: 8 });
    // A crash within the first line of the new file.
    renameSync(path, `${path}.2`);
    writeFileSync(path, '{"seq":9,"type":"fi');
    await fill(path, 3);
    expect(await verify(path)).toMatchObject({ ok: true, torn: 1 });
  });

  it('rejects a second writer in the same process, and accepts it when the first one is closed', async () => {
    const path = fresh();
    await opened({ path, secret }, async ({ write }) => {
      await expect(fill(path, 1)).rejects.toThrow(`The audit log ${path} is in use by this process.`);
      await write([entry(1)]);
    });
    await fill(path, 1);
    expect(await verify(path)).toMatchObject({ ok: true, entries: 4 });
  });

  it('notices that somebody else writes to the file, removes it or replaces it, and writes nothing then', async () => {
    const path = fresh();
    await opened({ path, secret }, async ({ write }) => {
      await write([entry(1)]);
      const content = readFileSync(path);
      appendFileSync(path, 'x');
      const batch = [entry(2)];
      await expect(write(batch)).rejects.toThrow('was changed by somebody else');
      truncateSync(path, content.length);
      await write(batch);
      renameSync(path, `${path}.away`);
      const next = [entry(3)];
      await expect(write(next)).rejects.toThrow('was removed or replaced');
      writeFileSync(path, '');
      await expect(write(next)).rejects.toThrow('was removed or replaced');
      renameSync(`${path}.away`, path);
      await write(next);
    });
    expect(await verify(path)).toMatchObject({ ok: true, entries: 4 });
  });

  it('does not write to a file that is not an audit log', async () => {
    const path = fresh();
    await fill(path, 1);
    rmSync(`${path}.head`);
    writeFileSync(path, 'root:x:0:0\n');
    await expect(fill(path, 1)).rejects.toThrow(`The file ${path} is not an audit log.`);
    expect(readFileSync(path, 'utf8')).toBe('root:x:0:0\n');
  });

  it('can have its head elsewhere', async () => {
    const path = fresh();
    const head = join(root, 'elsewhere.head');
    await fill(path, 3, { head });
    expect(existsSync(`${path}.head`)).toBe(false);
    expect((await verifyAuditFile(path, { secret, head: readFileSync(head, 'utf8') })).ok).toBe(true);
    write(path, linesOf(path).slice(0, -1));
    expect((await verifyAuditFile(path, { secret, head: readFileSync(head, 'utf8') })).ok).toBe(false);
  });

  it('can be checked while it is written, also while it begins other files', async () => {
    const path = fresh();
    await opened({ path, secret, maxBytes: 20_000 }, async ({ write }) => {
      for (let round = 0; round < 20; round++) {
        const report = verify(path);
        for (let n = 0; n < 5; n++) await write([1, 2, 3, 4, 5].map(entry));
        expect((await report).problems).toEqual([]);
      }
    });
  });

  it.each<[object, string]>([
    [{}, 'auditFile: `path` must be the path of a file.'],
    [{ path: 'x', secret: 'short' }, 'A secret must have at least 32 characters'],
    [{ path: 'x', secret: [] }, 'at least one secret'],
    [{ path: 'x', maxBytes: 0 }, 'auditFile: "maxBytes" must be an integer, 1 or more, not 0.'],
    [{ path: 'x', fsync: true }, 'auditFile has no option "fsync"'],
  ])('rejects the options %j', (options, message) => {
    expect(() => auditFile(options as AuditFileOptions)).toThrow(message);
  });
});
