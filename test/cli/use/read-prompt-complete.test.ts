import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer, prompt, resource, user } from 'fullmcp';
import { serve } from 'fullmcp/node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { demoServer } from '../support/demo.js';
import { fullmcp } from '../support/run-cli.js';

const demo = demoServer();
let folder: string;
let url: string;
let close: () => Promise<void>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fullmcp-read-'));
  const server = createServer({
    name: 'hostile',
    version: '1.0.0',
    resources: {
      'bytes://one': resource({ mimeType: 'image/png', read: () => new Uint8Array([0, 255, 128]) }),
      'bytes://text': resource({
        mimeType: 'application/json',
        read: () => new TextEncoder().encode('{"evil":"\u202e"}'),
      }),
      'text://evil': resource({ read: () => '\u001b]0;owned\u0007\u202etext' }),
    },
    prompts: { evil: prompt({ run: () => [user('\u001b[2Jgone'), user('\u202eback')] }) },
  });
  const running = await serve(server, { port: 0 });
  url = running.url;
  close = () => running.close();
});
afterAll(async () => {
  await close();
  await rm(folder, { recursive: true });
});

describe('fullmcp read', () => {
  it('prints bytes that are text as text', async () => {
    const { stdout, exit } = await fullmcp(['read', url, 'bytes://text'], { terminal: true });
    expect({ stdout, exit }).toEqual({ stdout: '{"evil":"\\u{202e}"}\n', exit: 0 });
  });

  it('prints text, and a documented JSON object', async () => {
    const { exit, stdout, stderr } = await fullmcp(['read', demo.url, 'demo://readme']);
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: '' });
    expect(stdout).toMatch(/^This is the demo of fullmcp\./);
    expect((await fullmcp(['read', demo.url, 'demo://readme', '--json'])).json()).toMatchObject({
      ok: true,
      uri: 'demo://readme',
      contents: [{ mimeType: 'text/markdown' }],
    });
  });

  it('names a resource that is close to one that the server does not have', async () => {
    const { exit, stderr } = await fullmcp(['read', demo.url, 'demo://readm']);
    expect([exit, stderr]).toEqual([4, 'Resource not found: demo://readm. Did you mean "demo://readme"?\n']);
  });

  it('writes bytes to a pipe or a file, never to a terminal', async () => {
    expect((await fullmcp(['read', url, 'bytes://one'])).stdout).toBe('\u0000\u00ff\u0080');
    const shown = await fullmcp(['read', url, 'bytes://one'], { terminal: true });
    expect(shown).toMatchObject({ exit: 2, stdout: '' });
    expect(shown.stderr).toContain('Save them with -o <file>, or write them to a pipe.');
    const file = join(folder, 'one.png');
    expect(await fullmcp(['read', url, 'bytes://one', '-o', file])).toMatchObject({ exit: 0, stdout: '' });
    expect([...(await readFile(file))]).toEqual([0, 255, 128]);
  });

  it('exits with 4 if the resource does not exist, with 2 without a URI', async () => {
    expect((await fullmcp(['read', demo.url, 'demo://nothing'])).exit).toBe(4);
    expect((await fullmcp(['read', demo.url])).exit).toBe(2);
  });
});

describe('fullmcp prompt', () => {
  it('prints the messages with their roles', async () => {
    const { exit, stdout } = await fullmcp(['prompt', demo.url, 'explain', 'topic=bread']);
    expect(exit).toBe(0);
    expect(stdout).toBe(
      '[user]\nExplain bread to a student.\n[user]\nUse short sentences, and one example from daily life.\n',
    );
    expect((await fullmcp(['prompt', demo.url, 'explain', 'topic=x', '--json'])).json()).toMatchObject({
      ok: true,
      prompt: 'explain',
      messages: [{ role: 'user', content: { type: 'text' } }, { role: 'user' }],
    });
  });

  it('asks a person for a required argument that is missing, and prints the line to repeat it', async () => {
    const words = ['prompt', demo.url, 'explain', 'audience=a child'];
    const { exit, stdout, stderr } = await fullmcp(words, { terminal: true, keys: '\n@home \n' });
    expect([exit, stdout]).toEqual([0, expect.stringContaining('Explain @home to a child.')]);
    expect(stderr).toContain('explain needs:\n  What to explain\n');
    expect(stderr).toContain('a value is required');
    expect(stderr).toContain(`Again: fullmcp prompt ${demo.url} explain 'audience=a child' topic=@home\n`);
    const typo = await fullmcp(['prompt', demo.url, 'explain', 'topc=x'], { terminal: true, keys: 'y\n' });
    expect([typo.exit, typo.stderr]).toEqual([2, expect.not.stringContaining('needs:')]);
    expect((await fullmcp(['prompt', demo.url, 'explain'], { keys: 'y\n' })).exit).toBe(2);
  });

  it('sends nothing if the name or an argument is wrong', async () => {
    expect(await fullmcp(['prompt', demo.url, 'explian'])).toMatchObject({
      exit: 2,
      stderr: 'No prompt is called "explian". Did you mean "explain"?\n',
    });
    const wrong = await fullmcp(['prompt', demo.url, 'explain', 'topik=x']);
    expect(wrong.exit).toBe(2);
    expect(wrong.stderr).toContain(
      '  topik  unknown, did you mean "topic"?\n  topic  missing\n  explain(topic, audience?)',
    );
    const more = ['prompt', demo.url, 'explain', 'topic=bread', 'more=1'];
    expect(await fullmcp(more)).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining('--allow-unknown'),
    });
    expect(await fullmcp([...more, '--allow-unknown'])).toMatchObject({ exit: 0 });
  });
});

describe('fullmcp complete', () => {
  it('prints the values of a prompt or a template, one per line', async () => {
    const topics = await fullmcp(['complete', demo.url, 'prompt', 'explain', 'topic', 'br']);
    expect(topics).toMatchObject({ exit: 0, stdout: 'bridges\nbread\n', stderr: '' });
    const notes = await fullmcp(['complete', demo.url, 'resource', 'notes://{id}', 'id', '--json']);
    expect(notes.json()).toMatchObject({ ok: true, values: ['1'], hasMore: false });
  });

  it('exits with 2 for anything else than a prompt or a resource', async () => {
    expect((await fullmcp(['complete', demo.url, 'tool', 'add', 'a'])).exit).toBe(2);
    expect((await fullmcp(['complete', demo.url, 'prompt', 'explain', 'topic', '--with', 'x'])).exit).toBe(2);
  });
});

it('reads and prompts of a hostile server cannot control the terminal', async () => {
  for (const words of [
    ['read', url, 'text://evil'],
    ['read', url, 'text://evil', '--json'],
    ['prompt', url, 'evil'],
    ['prompt', url, 'evil', '--json'],
  ]) {
    const { exit, stdout, stderr } = await fullmcp(words);
    expect(exit).toBe(0);
    for (const unsafe of ['\u001b', '\u202e', '\u0007']) expect(stdout + stderr).not.toContain(unsafe);
  }
});
