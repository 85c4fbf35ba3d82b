import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createServer, inProcess, tool } from 'fullmcp';
import { audit } from 'fullmcp/middleware';
import { auditFile } from 'fullmcp/node';
import { versions } from 'fullmcp/transform';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { fullmcp } from '../support/run-cli.js';
import { folder, served } from './support.js';

const files = await folder();
const base = { name: 'shop', version: '1.0.0', logger: () => undefined };
const search = tool({ input: z.object({ query: z.string() }), run: ({ query }) => query });
const next = tool({ input: z.object({ terms: z.array(z.string()) }), run: ({ terms }) => terms.join() });
const pay = tool({
  input: z.object({ amount: z.number(), note: z.string().optional() }),
  run: ({ amount }) => amount,
});
const gone = tool({ run: () => 'gone' });

const log = join(files, 'audit.jsonl');
const sink = auditFile({ path: log });
const before = createServer({ ...base, use: [audit({ to: sink })], tools: { search, pay, gone } });
const was = await served(before);
const is = await served(createServer({ ...base, tools: { search: next, pay } }));
const keeps = await served(
  createServer({ ...base, tools: { search: versions({ '1.0': search, '2.0': next }), pay, gone } }),
);

const calls = async (subject: string, name: string, ...all: object[]): Promise<void> => {
  const call = inProcess(before, { caller: { subject }, client: { name: 'cli', version: '2.1.0' } });
  for (const args of all) await call('tools/call', { name, arguments: args });
};
await calls('ada', 'search', { query: 'a' }, { query: 'b' }, { nonsense: 1 });
await calls('eve', 'search', { query: 'c' });
await calls('eve', 'pay', { amount: 1 }, { amount: 2, note: 'x' });
await calls('bob', 'gone', {});
await before.close();

interface Printed {
  ok: boolean;
  breaking: number;
  changes: { name: string; says: string; breaking: boolean }[];
  callers: { tool: string; caller?: string; client?: string; calls: number; last?: string; says: string }[];
}

describe('fullmcp diff --calls', () => {
  it('does not call the removal of a tool breaking while its versions still answer, and says until when', async () => {
    const tools = { search: next, pay, gone: versions({ '1.0': gone }, { current: 'none' }) };
    const removed = await served(createServer({ ...base, tools }));
    const { json } = await fullmcp(['diff', was, removed, '--calls', log, '--json']);
    const { changes, callers } = json<Printed>();
    expect(changes).toContainEqual({
      ...{ kind: 'tool', name: 'gone', change: 'removed', breaking: false },
      says: expect.stringMatching(
        /version 1\.0 still answers callers that know it, until "versions" does not have it/,
      ),
    });
    expect(callers.map(({ tool: name }) => name)).not.toContain('gone');
    // In the next release, the version is gone, too.
    const later = await fullmcp(['diff', removed, is, '--calls', log, '--json']);
    expect(later.json<Printed>().callers).toContainEqual(
      expect.objectContaining({ tool: 'gone', caller: 'bob', says: 'the tool was removed' }),
    );
  });

  it('calls the removal of a tool breaking if its versions have other schemas, and lists removed tools to nobody else', async () => {
    const other = tool({ input: z.object({ why: z.string() }), run: () => 'other' });
    const tools = { search, pay, gone: versions({ '1.0': other }, { current: 'none' }) };
    const removed = await served(createServer({ ...base, tools }));
    const { json } = await fullmcp(['diff', was, removed, '--calls', log, '--json']);
    expect(json<Printed>().changes).toContainEqual(
      expect.objectContaining({
        name: 'gone',
        breaking: true,
        says: expect.stringContaining('none has the schemas'),
      }),
    );
    expect(json<Printed>().callers.map(({ tool: name }) => name)).toEqual(['gone']);
    const listed = await fullmcp(['list', removed, '--json']);
    expect(listed.stdout).not.toContain('gone');
  });

  it('keeps removed tools in a saved manifest, so that a later comparison knows them', async () => {
    const tools = { search, pay, gone: versions({ '1.0': gone }, { current: 'none' }) };
    const file = join(files, 'kept.manifest.json');
    await fullmcp(['manifest', await served(createServer({ ...base, tools })), '-o', file]);
    const { json } = await fullmcp(['diff', was, file, '--json']);
    expect([json<Printed>().breaking, json<Printed>().changes.map(({ name }) => name)]).toEqual([
      0,
      ['gone'],
    ]);
  });

  it('names the callers of an older version that the next release does not have any more', async () => {
    const dropped = await served(
      createServer({ ...base, tools: { search: versions({ '2.0': next }), pay, gone } }),
    );
    const { json } = await fullmcp(['diff', keeps, dropped, '--calls', log, '--json']);
    const { callers } = json<Printed>();
    expect(callers.map(({ tool: name, caller }) => [name, caller])).toEqual([
      ['search', 'ada'],
      ['search', 'eve'],
    ]);
    expect(callers[0]?.says).toContain('a version that may have answered it is gone: 1.0');
  });

  it('names the callers in an audit log whose calls would break, and those alone decide with --fail-on callers', async () => {
    const { exit, json } = await fullmcp(['diff', was, is, '--calls', log, '--json']);
    const { callers } = json<Printed>();
    expect(exit).toBe(1);
    expect(
      callers.map(({ tool: name, caller, client, calls: count }) => [name, caller, client, count]),
    ).toEqual(
      expect.arrayContaining([
        ['search', 'ada', 'cli 2.1.0', 2],
        ['search', 'eve', 'cli 2.1.0', 1],
        ['gone', 'bob', 'cli 2.1.0', 1],
      ]),
    );
    expect(callers).toHaveLength(3);
    expect(callers[0]?.says).toBe('the argument query was removed');
    expect(callers[0]?.last).toMatch(/^20\d\d-/);
    const text = await fullmcp(['diff', was, is, '--calls', log, '--fail-on', 'callers']);
    expect([text.exit, text.stderr]).toEqual([1, expect.stringContaining('3 callers would break.')]);
    expect(text.stdout).toContain('search for ada with cli 2.1.0');
  });

  it('finds nobody if the next release keeps the version, and its changes are not breaking', async () => {
    const options = ['--calls', log, '--fail-on', 'callers', '--json'];
    const { exit, json } = await fullmcp(['diff', was, keeps, ...options]);
    const { callers, breaking, changes } = json<Printed>();
    expect([exit, callers, breaking]).toEqual([0, [], 0]);
    expect(changes.map(({ says }) => says)).toContain(
      'query: this argument was removed; version 1.0 still answers',
    );
  });

  it('reads a tape, too, and skips a torn line', async () => {
    const tape = join(files, 'shop.tape');
    const line = {
      call: 1,
      at: 5,
      method: 'tools/call',
      params: { name: 'search', arguments: { query: 'a' } },
    };
    await writeFile(
      tape,
      `{"fullmcp":"recording","version":1}\n${JSON.stringify(line)}\n{"call":2,"at":9,"meth`,
    );
    const { json } = await fullmcp(['diff', was, is, '--calls', tape, '--calls', log, '--json']);
    const { callers } = json<Printed>();
    expect(callers.find(({ caller }) => caller === undefined)).toEqual({
      tool: 'search',
      calls: 1,
      says: 'the argument query was removed',
    });
    expect(callers).toHaveLength(4);
  });

  it('says what is wrong with the file, or that it is missing', async () => {
    const other = join(files, 'other.txt');
    await writeFile(other, 'hello\n');
    for (const [args, problem] of [
      [['--calls', other], 'is neither a tape of fullmcp record nor an audit log'],
      [['--calls', join(files, 'nowhere')], 'does not exist'],
      [['--fail-on', 'callers'], '--fail-on callers needs the calls'],
    ] as const) {
      const { exit, stderr } = await fullmcp(['diff', was, is, ...args]);
      expect([exit, stderr]).toEqual([2, expect.stringContaining(problem)]);
    }
    expect(await readFile(log, 'utf8')).toContain('"ada"');
  });
});
