import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createServer, tool } from 'fullmcp';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { HistoryFile } from '../../../src/inspector/stories/history-file.js';
import { type KeptRun, MAX_RUN, RunWriter } from '../../../src/inspector/stories/kept-run.js';
import type { JsonObject } from '../../../src/jsonrpc/message.js';
import { type Rig, rig } from './rig.js';

const server = createServer({
  name: 'shop',
  version: '1.0.0',
  tools: {
    add: tool({ input: z.object({ a: z.number(), b: z.number() }), run: ({ a, b }) => a + b }),
    login: tool({
      input: z.object({
        password: z.string(),
        memo: z.string().meta({ format: 'password' }).optional(),
        headers: z.record(z.string(), z.string()).optional(),
      }),
      run: ({ password, memo }) => `in with ${password}, ${memo}`,
    }),
    ask_key: tool({
      run: async (_, { ask }) => {
        const { passphrase } = await ask('key', {
          message: 'The key of the vault?',
          schema: z.object({ passphrase: z.string() }),
        });
        return `opened with ${passphrase}`;
      },
    }),
    fails: tool({
      run: () => {
        throw new Error('always');
      },
    }),
    large: tool({ run: () => ({ rows: Array.from({ length: 4000 }, (_, at) => `row ${at} of many`) }) }),
    huge: tool({ run: () => 'x'.repeat(700_000) }),
    controls: tool({ run: () => ({ text: '\u0001'.repeat(30_000) }) }),
  },
});

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fullmcp-history-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const file = (): string => join(folder, 'history.ndjson');
const written = (): Promise<string> => readFile(file(), 'utf8');
const visit = (): Rig => rig({ historyFolder: folder });

async function calls(own: Rig, tools: readonly (readonly [string, JsonObject?])[]): Promise<string> {
  const id = await own.connect({ target: server, address: 'shop' });
  for (const [name, args = {}] of tools)
    await own.ended((await own.run('call', { connection: id, tool: name, args })).story);
  return id;
}

function earlierOf(own: Rig): readonly { id: number; title: string; [field: string]: unknown }[] {
  return own.inspector.snapshot().stories.filter(({ earlier }) => earlier !== undefined) as never;
}

function keptRun(at: number, more: Partial<KeptRun> = {}): KeptRun {
  const now = Date.now();
  return {
    ...{ id: `run-${at}`, server: 'shop', kind: 'tool', title: 'add', method: 'tools/call', args: { at } },
    ...{ at: now, endedAt: now, youMs: 0, state: 'ok', questions: [], facts: { lacks: [] } },
    ...more,
  };
}

describe('the history of a project', () => {
  test('shows the calls of an earlier visit, with arguments, result, error and times', async () => {
    await using first = visit();
    await calls(first, [['add', { a: 2, b: 40 }], ['fails']]);
    const [sum, failure] = ['add', 'fails'].map((title) =>
      first.inspector.snapshot().stories.find((story) => story.title === title),
    );
    await first.inspector.close();

    await using second = visit();
    const id = await calls(second, []);
    const kept = earlierOf(second);
    expect(kept).toEqual([
      expect.objectContaining({
        connection: id,
        kind: 'tool',
        title: 'add',
        args: { a: 2, b: 40 },
        outcome: sum?.outcome,
        state: 'ok',
        at: sum?.at,
        endedAt: sum?.endedAt,
        serverMs: sum?.serverMs,
        earlier: { revision: '2026-07-28', lacks: [] },
      }),
      expect.objectContaining({ title: 'fails', state: failure?.state, outcome: failure?.outcome }),
    ]);
    // The order of the list is that of the calls: those of today come later.
    const ids = second.inspector.snapshot().stories.map((story) => story.id);
    expect(ids).toEqual([...ids].sort((one, other) => one - other));

    const { story } = await second.run('again', { story: kept[0]?.id ?? 0 });
    expect(await second.ended(story)).toMatchObject({
      args: { a: 2, b: 40 },
      repeats: kept[0]?.id,
      state: 'ok',
    });
  });

  test('has no secret in its file: not of arguments, answers, headers, tokens or results', async () => {
    await using own = visit();
    const token = 'opaque-token-of-the-connection';
    const id = await own.connect({ target: server, address: 'shop', options: { auth: token } });
    const args = {
      password: 'sesame-4711',
      memo: 'marked-by-schema',
      headers: { Authorization: 'Bearer in-a-header-4712', 'x-api-key': 'key-in-a-header' },
    };
    await own.ended((await own.run('call', { connection: id, tool: 'login', args })).story);
    await own.ended(
      (await own.run('call', { connection: id, tool: 'fails', args: { note: `it is ${token}` } })).story,
    );
    const { story } = await own.run('call', { connection: id, tool: 'ask_key', args: {} });
    const question = await own.question(story);
    const answer = { action: 'accept', content: { passphrase: 'answer-4713' } };
    await own.run('answer', { story, question: question.id, answer });
    await own.ended(story);
    await own.inspector.close();

    const text = await written();
    expect(text.split('\n')).toHaveLength(5);
    for (const secret of ['sesame', 'marked-by', 'in-a-header', 'key-in-a', 'answer-4713', 'opaque', 'eader'])
      expect(text.replaceAll('headers', '')).not.toContain(secret);
    expect((await stat(file())).mode & 0o777).toBe(0o600);

    await using second = visit();
    await calls(second, []);
    const [login, , asked] = earlierOf(second);
    expect(login).toMatchObject({ args: { password: '***' }, earlier: { lacks: ['secrets'] } });
    expect(asked).toMatchObject({ questions: [{ kind: 'form', answer: { action: 'accept' } }] });
    // Nobody logs in with the mark of a removed secret.
    await expect(second.run('again', { story: login?.id ?? 0 })).rejects.toThrow('does not keep secrets');
  });

  test('has no answer to a field that the schema of a question marks, nor the token of a login, nor in a question what the result calls a secret', () => {
    const writer = new RunWriter([]);
    writer.learn('token-of-a-login');
    const question = {
      ...({
        id: 'q1',
        round: 1,
        kind: 'form',
        at: 1,
        answeredAt: 2,
        message: 'Key for session-4711?',
      } as const),
      schema: { type: 'object', properties: { vault: { type: 'string', format: 'password' } } },
      answer: { action: 'accept', content: { vault: 'open-sesame' } },
    };
    const story = {
      ...({
        id: 1,
        run: 1,
        connection: 'c1',
        kind: 'tool',
        title: 'open',
        method: 'tools/call',
        state: 'ok',
      } as const),
      ...{
        at: 1,
        endedAt: 3,
        serverMs: 1,
        youMs: 1,
        rounds: [],
        ticks: [],
        droppedTicks: 0,
        isPinned: false,
      },
      questions: [question],
    };
    const outcome = JSON.stringify({
      content: [{ type: 'text', text: 'open-sesame, token-of-a-login' }],
      structuredContent: { session_token: 'session-4711' },
    });
    const facts = { server: 'shop', revision: undefined, definition: undefined, outcome };
    const text = JSON.stringify(writer.run(story, facts));
    expect(text).toContain('[redacted], [redacted]');
    expect(text).not.toMatch(/open-sesame|token-of|session-4711/);
  });

  test('is counted with the runs of this visit, by tool and by connection', async () => {
    await using first = visit();
    await calls(first, [['add', { a: 1, b: 1 }], ['fails'], ['add', { a: 1, b: 2 }]]);
    await first.inspector.close();

    await using second = visit();
    await calls(second, [['add', { a: 1, b: 3 }], ['fails']]);
    const other = await second.connect({ target: server, address: 'another shop' });
    await second.ended(
      (await second.run('call', { connection: other, tool: 'add', args: { a: 1, b: 4 } })).story,
    );
    const runs = second.inspector
      .snapshot()
      .stories.filter(({ method }) => method === 'tools/call')
      .map(({ title, run, connection }) => `${title} #${run}${connection === other ? ' elsewhere' : ''}`);
    expect(runs).toEqual(['add #1', 'fails #1', 'add #2', 'add #3', 'fails #2', 'add #1 elsewhere']);
  });

  test('marks results that were cut, and keeps none that is too large to be cleaned', async () => {
    await using first = visit();
    await calls(first, [['large'], ['huge'], ['controls']]);
    await first.inspector.close();
    for (const line of (await written()).split('\n')) expect(line.length).toBeLessThanOrEqual(MAX_RUN);

    await using second = visit();
    await calls(second, []);
    const [large, huge, controls] = earlierOf(second);
    expect(large).toMatchObject({ earlier: { lacks: ['result'] } });
    expect(JSON.stringify(large?.['outcome'])).toContain('row 0 of many');
    expect(JSON.stringify(large?.['outcome']).length).toBeLessThan(MAX_RUN);
    expect(huge).toMatchObject({ earlier: { lacks: ['result'] } });
    expect(huge?.['outcome']).toBeUndefined();
    expect(huge?.['outcomeBytes']).toBeGreaterThan(700_000);
    expect(controls).toMatchObject({ earlier: { lacks: ['result'] } });
  });

  test('is cleared with the timeline, but for pinned calls, and is forgotten as a whole', async () => {
    await using own = visit();
    const id = await calls(own, [
      ['add', { a: 1, b: 1 }],
      ['add', { a: 2, b: 2 }],
    ]);
    const [, pinned] = own.inspector.snapshot().stories.filter(({ title }) => title === 'add');
    await own.run('pin', { story: pinned?.id ?? 0, pinned: true });
    await own.run('clear', { connection: id });
    const lines = (await written()).trim().split('\n').slice(1);
    expect(lines.map((line) => JSON.parse(line).args)).toEqual([{ a: 2, b: 2 }]);

    await writeFile(join(folder, 'history.ndjson.aside-1'), 'old');
    await own.run('forgetHistory', {});
    expect((await readdir(folder)).filter((name) => name.startsWith('history'))).toEqual([]);
    await own.inspector.close();
    await using second = visit();
    await calls(second, []);
    expect(earlierOf(second)).toEqual([]);
  });

  test('is shown once if two connections lead to the same server', async () => {
    await using first = visit();
    await calls(first, [['add', { a: 1, b: 1 }]]);
    await first.inspector.close();
    await using second = visit();
    await calls(second, [['add', { a: 2, b: 2 }]]);
    await calls(second, []);
    expect(second.inspector.snapshot().stories.filter(({ title }) => title === 'add')).toHaveLength(2);
  });
});

describe('the file of the history', () => {
  const notices: string[] = [];
  const open = (): HistoryFile => new HistoryFile(folder, (notice) => notices.push(notice));
  beforeEach(() => {
    notices.length = 0;
  });

  test('is bounded in calls, size and age', async () => {
    const history = open();
    for (let at = 0; at < 600; at++) history.keep(keptRun(at));
    await history.idle;
    const runs = await history.runs('shop');
    expect(runs).toHaveLength(500);
    expect(runs.at(-1)?.id).toBe('run-599');

    for (let at = 0; at < 200; at++)
      history.keep(keptRun(1000 + at, { outcome: { text: 'x'.repeat(60_000) } }));
    await history.idle;
    expect((await stat(file())).size).toBeLessThanOrEqual(4 * 1024 * 1024);
    expect((await history.runs('shop')).at(-1)?.id).toBe('run-1199');

    const old = Date.now() - 31 * 24 * 60 * 60_000;
    await history.forget();
    history.keep(keptRun(1, { at: old, endedAt: old }));
    history.keep(keptRun(2));
    await history.idle;
    expect((await history.runs('shop')).map(({ id }) => id)).toEqual(['run-2']);
    expect(await written()).not.toContain('run-1');
  });

  test('loses nothing if two processes write at once', async () => {
    const program = `
      import { createJiti } from 'jiti';
      const [module, folder, name, run] = process.argv.slice(1);
      const { HistoryFile } = await createJiti(module).import(module);
      const history = new HistoryFile(folder, (notice) => { throw new Error(notice); });
      for (let at = 0; at < 5; at++) {
        history.keep({ ...JSON.parse(run), id: name + at });
        await history.idle;
      }`;
    const module = fileURLToPath(new URL('../../../src/inspector/stories/history-file.ts', import.meta.url));
    const write = (name: string): Promise<unknown> =>
      promisify(execFile)(process.execPath, [
        ...['--input-type=module', '-e', program, '--'],
        ...[module, folder, name, JSON.stringify(keptRun(0))],
      ]);
    await Promise.all([write('one'), write('other')]);
    const ids = (await open().runs('shop')).map(({ id }) => id);
    expect(new Set(ids).size).toBe(10);
    // Nothing is left of the writing but the file and its lock.
    const names = await readdir(folder);
    expect(names.filter((name) => !/^(?:history\.ndjson|lock\.\d+)$/.test(name))).toEqual([]);
    expect(notices).toEqual([]);
  });

  test.each([
    [
      'is torn',
      `{"fullmcp":"history","version":1}\n${JSON.stringify(keptRun(1))}\n{"id":"ru`,
      'is damaged: 1 of 2',
    ],
    ['is of something else', 'hello\nworld\n', 'is not a file of fullmcp'],
    [
      'is of a newer version',
      '{"fullmcp":"history","version":2}\n{"new":true}\n',
      'a newer version of fullmcp',
    ],
    [
      'has other types in it',
      `{"fullmcp":"history","version":1}\n${JSON.stringify(keptRun(1))}\n${JSON.stringify({ ...keptRun(2), questions: [{ message: 7 }] })}\n`,
      'is damaged: 1 of 2',
    ],
  ])('is put aside with a sentence if it %s', async (_, text, sentence) => {
    await writeFile(file(), text);
    const history = open();
    const runs = await history.runs('shop');
    expect(runs.map(({ id }) => id)).toEqual(text.includes('run-1') ? ['run-1'] : []);
    expect(notices).toEqual([expect.stringContaining(sentence)]);
    const [aside = ''] = (await readdir(folder)).filter((name) => name.includes('aside'));
    expect(await readFile(join(folder, aside), 'utf8')).toBe(text);
    expect(notices[0]).toContain(aside);

    history.keep(keptRun(3));
    await history.idle;
    expect((await open().runs('shop')).at(-1)?.id).toBe('run-3');
    expect(notices).toHaveLength(1);
  });

  test('is neither read nor written through a link', async () => {
    const secret = join(folder, 'elsewhere');
    await writeFile(secret, `{"fullmcp":"history","version":1}\n${JSON.stringify(keptRun(1))}\n`);
    await symlink(secret, file());
    const history = open();
    expect(await history.runs('shop')).toEqual([]);
    history.keep(keptRun(2));
    await history.idle;
    expect(await readFile(secret, 'utf8')).not.toContain('run-2');
    expect(notices).toEqual([expect.stringContaining('is not a file')]);
  });

  test('that cannot be written is a sentence, and no call fails', async () => {
    const blocked = join(folder, 'blocked');
    await writeFile(blocked, '');
    await using own = rig({ historyFolder: join(blocked, 'history') });
    const id = await own.connect({ target: server, address: 'shop' });
    const { story } = await own.run('call', { connection: id, tool: 'add', args: { a: 1, b: 2 } });
    expect(await own.ended(story)).toMatchObject({ state: 'ok' });
    await own.until('the sentence', () => own.inspector.snapshot().history?.notice?.includes('cannot be'));
  });
});
