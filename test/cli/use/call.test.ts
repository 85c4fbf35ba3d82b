import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer, tool } from 'fullmcp';
import { serve } from 'fullmcp/node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { demoServer } from '../support/demo.js';
import { fullmcp } from '../support/run-cli.js';

const demo = demoServer();
let runs = 0;
let folder: string;
let url: string;
let close: () => Promise<void>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fullmcp-call-'));
  const server = createServer({
    name: 'things',
    version: '1.0.0',
    tools: {
      rows: tool({
        output: z.object({ rows: z.array(z.object({ id: z.int(), name: z.string() })) }),
        run: () => ({
          rows: [
            { id: 1, name: 'Ada' },
            { id: 20, name: '\u001b[31mBob\u202e' },
          ],
        }),
      }),
      mixed: tool({
        run: () => ({
          content: [
            { type: 'resource_link', name: 'manual', uri: 'docs://manual', mimeType: 'text/plain' },
            { type: 'resource', resource: { uri: 'docs://a', text: 'inside' } },
            { type: 'resource', resource: { uri: '../../etc/passwd', blob: 'AQID', mimeType: '\u001b[2J' } },
            { type: 'audio', data: 'BAU=', mimeType: 'audio/wav' },
          ],
        }),
      }),
      textBytes: tool({
        run: () => ({
          content: [
            { type: 'text', text: 'Two files:' },
            ...[Buffer.from('first\u001b[2J'), Buffer.from([0xff, 0xfe])].map((bytes) => ({
              type: 'resource' as const,
              resource: { uri: 'file:///a', blob: bytes.toString('base64'), mimeType: 'text/plain' },
            })),
          ],
        }),
      }),
      bytes: tool({ run: () => ({ content: [{ type: 'image', data: 'AP+A', mimeType: 'image/png' }] }) }),
      chatty: tool({
        run: (_input, { log, progress }) => {
          log.info('kneading\u001b[2J');
          progress(1, 2, 'half\u001b[2J');
          return 'done';
        },
      }),
      once: tool({ idempotency: true, run: () => `run ${++runs}` }),
    },
  });
  const running = await serve(server, { port: 0 });
  url = running.url;
  close = () => running.close();
});
afterAll(async () => {
  await close();
  await rm(folder, { recursive: true });
});

describe('fullmcp call', () => {
  it('refuses a name that the schema does not have, instead of running the tool with its default', async () => {
    const ran = await fullmcp(['call', demo.url, 'countdown', 'form=3']);
    expect(ran).toMatchObject({ exit: 2, stdout: '' });
    expect(ran.stderr).toContain('form: unknown field, did you mean "from"?');
    expect(await fullmcp(['call', demo.url, 'add', 'a=1', 'b=2', 'c=3'])).toMatchObject({ exit: 2 });
    expect(await fullmcp(['call', demo.url, 'add', '{"a":1,"b":2,"c":3}'])).toMatchObject({ exit: 2 });
    expect(await fullmcp(['bench', demo.url, 'countdown', 'form=3'])).toMatchObject({ exit: 2 });
  });

  it('sends such a name with --allow-unknown, which the refusal mentions', async () => {
    const words = ['call', demo.url, 'add', 'a=1', 'b=2', 'c=3'];
    expect((await fullmcp(words)).stderr).toContain('--allow-unknown sends it as it is.\n');
    expect(await fullmcp([...words, '--allow-unknown'])).toMatchObject({ exit: 0, stdout: '3\n' });
    const wrong = await fullmcp(['call', demo.url, 'add', 'a=x', '--allow-unknown']);
    expect(wrong).toMatchObject({ exit: 2 });
    expect(wrong.stderr).not.toContain('--allow-unknown');
  });

  it('names the misspelled argument beside the required one that is missing because of it', async () => {
    const { stderr } = await fullmcp(['call', demo.url, 'add', 'a=1', 'bb=2']);
    expect(stderr).toContain('b: required (a number), missing');
    expect(stderr).toContain('bb: unknown field.');
  });

  it.each([
    [
      '{"customer":{"name":"Ada"',
      'The JSON cannot be read: column 26: the text ends, but a { is still open.',
    ],
    ['{"a": 1,, "b": 2}', 'The JSON cannot be read: column 9: there is one comma too many.'],
    ['{\n"a": x}', 'The JSON cannot be read: line 2, column 6: there is no JSON value here.'],
    ['a:=[1', 'a:=[1 cannot be read: column 3: the text ends, but a [ is still open.'],
    ['@none.json', 'The file none.json does not exist.'],
  ])('says where the mistake is in %s', async (word, problem) => {
    const { exit, stderr } = await fullmcp(['call', demo.url, 'add', word]);
    expect([exit, stderr]).toEqual([2, `${problem}\n`]);
  });

  it('prints data as JSON, and as a table if asked to', async () => {
    expect(
      JSON.parse((await fullmcp(['call', url, 'rows'])).stdout.replaceAll('\\u{', '\\\\u{')),
    ).toMatchObject({
      rows: [{ id: 1 }, { id: 20 }],
    });
    const { stdout } = await fullmcp(['call', url, 'rows', '--table']);
    expect(stdout).toBe('id  name\n 1  Ada\n20  \\u{1b}[31mBob\\u{202e}\n');
  });

  it('prints links and embedded text, and keeps bytes off the terminal', async () => {
    const { stdout, stderr } = await fullmcp(['call', url, 'mixed'], { terminal: true });
    expect(stdout).toBe('manual  docs://manual  text/plain\ninside\n');
    expect(stderr).toContain('\\u{1b}[2J  3 B, not shown. -o <file> saves it.\naudio/wav  2 B, not shown.');
  });

  it('prints bytes that are text as text, and says what else it does not show', async () => {
    const { stdout, stderr } = await fullmcp(['call', url, 'textBytes'], { terminal: true });
    expect(stdout).toBe('Two files:\nfirst\\u{1b}[2J\n');
    expect(stderr).toContain('text/plain  2 B, not shown. -o <file> saves it.');
  });

  it('saves bytes under the name that was typed, and overwrites nothing', async () => {
    const file = join(folder, 'part.bin');
    const first = await fullmcp(['call', url, 'mixed', '-o', file, '--json']);
    const second = join(folder, 'part-2.bin');
    expect(first.json()).toMatchObject({
      ok: true,
      files: [
        { path: file, bytes: 3 },
        { path: second, bytes: 2 },
      ],
    });
    expect([...(await readFile(file)), ...(await readFile(second))]).toEqual([1, 2, 3, 4, 5]);
    expect(first.stderr).toBe(`Written to ${file} (3 B).\nWritten to ${second} (2 B).\n`);
    await writeFile(file, 'mine');
    const again = await fullmcp(['call', url, 'mixed', '-o', file]);
    expect(again).toMatchObject({ exit: 2, stderr: `${file} exists. --force overwrites it.\n` });
    expect(await readFile(file, 'utf8')).toBe('mine');
    expect((await fullmcp(['call', url, 'bytes', '-o', file, '--force'])).exit).toBe(0);
    expect([...(await readFile(file))]).toEqual([0, 255, 128]);
  });

  it('writes bytes to a pipe if they are the whole result', async () => {
    expect((await fullmcp(['call', url, 'bytes'])).stdout).toBe('\u0000\u00ff\u0080');
    expect((await fullmcp(['call', url, 'bytes'], { terminal: true })).stdout).toBe('');
  });

  it('prints log messages and progress on stderr only when asked to, and draws progress over itself on a terminal', async () => {
    expect((await fullmcp(['call', url, 'chatty'])).stderr).toBe('');
    const lines = await fullmcp(['call', url, 'chatty', '--log', 'info', '--progress']);
    expect(lines.stdout).toBe('done\n');
    expect(lines.stderr).toContain('kneading\\u{1b}[2J\n');
    expect(lines.stderr).toContain('chatty  1 of 2  half\\u{1b}[2J\n');
    const drawn = await fullmcp(['call', url, 'chatty'], { terminal: true });
    expect(drawn.stderr).toContain('\r\u001b[2Kchatty  ██████████░░░░░░░░░░  1 of 2  half\\u{1b}[2J  ');
    expect(drawn.stderr.endsWith('\r\u001b[2K')).toBe(true);
    expect((await fullmcp(['call', url, 'chatty', '--log', 'loud'])).exit).toBe(2);
  });

  it('sends an idempotency key, with which the tool runs once', async () => {
    const words = ['call', url, 'once', '--idempotency-key', 'order-7'];
    const first = await fullmcp(words);
    expect(first.stdout).toBe('run 1\n');
    expect((await fullmcp(words)).stdout).toBe('run 1\n');
    expect((await fullmcp(['call', url, 'once'])).stdout).toBe('run 2\n');
  });

  it('prints the id of a task alone, and the result if the server makes no task', async () => {
    const { exit, stdout, stderr } = await fullmcp(['call', demo.url, 'bake_bread', 'stepMs=1', '--detach']);
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: '' });
    expect(stdout).toMatch(/^\S+\n$/);
    const json = await fullmcp(['call', demo.url, 'bake_bread', 'stepMs=1', '--detach', '--json']);
    expect(json.json()).toEqual({ ok: true, tool: 'bake_bread', task: expect.any(String) });
    expect(await fullmcp(['call', demo.url, 'add', 'a=1', 'b=2', '--detach'])).toMatchObject({
      exit: 0,
      stdout: '3\n',
    });
  });
});
