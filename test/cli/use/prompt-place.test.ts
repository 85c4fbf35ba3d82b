import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer, resource, tool } from 'fullmcp';
import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { served } from '../check/support.js';
import { Told } from '../project/told.js';
import { fullmcp, type Ran } from '../support/run-cli.js';

// `fullmcp <target>`: a prompt with one connection.

let discovered = 0;
const server = createServer({
  name: 'shop\u001b[2J',
  version: '1.0.0',
  tools: {
    add: tool({
      input: z.object({ a: z.number(), b: z.number() }),
      run: ({ a, b }) => a + b,
    }),
    ask: tool({
      run: async (_, { ask }) => {
        const { word } = await ask('word', {
          message: 'Which word?',
          schema: z.object({ word: z.string() }),
        });
        return `asked: ${word}`;
      },
    }),
    hang: tool({
      run: (_, { signal }) => new Promise((_done, fail) => signal.addEventListener('abort', fail)),
    }),
  },
  resources: { 'text://readme': resource({ read: () => 'read me' }) },
});
const counting = {
  ...server,
  dispatch: (call: Parameters<typeof server.dispatch>[0]) => {
    if (call.method === 'server/discover') discovered++;
    return server.dispatch(call);
  },
};
const url = await served(counting as typeof server);
const folder = await mkdtemp(join(tmpdir(), 'fullmcp-prompt-'));
afterAll(() => rm(folder, { recursive: true, force: true }));
beforeEach(() => void vi.stubEnv('FULLMCP_HOME', folder));

const CTRL_C = '\u0003';
const CTRL_D = '\u0004';
const at = (keys: string, words: readonly string[] = [url]): Promise<Ran> =>
  fullmcp(words, { terminal: true, keys, env: { NO_COLOR: '1' } });

describe('fullmcp <target>', () => {
  it('opens a prompt that lists, calls, reads and answers over one connection, and ends at exit and Ctrl+D', async () => {
    discovered = 0;
    const ran = await at('list\ncall add a=2 b=40\nread text://readme\ncall ask\nhello\nexit\n');
    expect(ran.exit).toBe(0);
    expect(ran.stdout).toContain('add(a: number, b: number)');
    expect(ran.stdout.endsWith('42\nread me\nasked: hello\n')).toBe(true);
    expect(ran.stderr).toContain('shop\\u{1b}[2J> ');
    expect(discovered).toBe(1);
    expect((await at(CTRL_D)).exit).toBe(0);
  });

  it('stays after an error, says what is close, and explains itself', async () => {
    const { stderr, stdout } = await at(
      'cal\nread\nread a b\ncall add -- x\nadd\ncall ad\ncall add "a\ncall add a=x b=1\ncall add a=1 b=1 --token x\nhelp\nhelp call\ntasks\nexit\n',
    );
    expect(stderr).toContain('The prompt has no command "cal". Did you mean "call"?');
    expect(stderr).toContain('The prompt has no command "add". Did you mean "call add"?');
    expect(stderr).toContain('<uri> is missing: read <uri>\n');
    expect(stderr).toContain('"b" is one word too many. The command takes: read <uri>\n');
    expect(stderr).toContain('The prompt has one server, so that no command can follow `--`.');
    expect(stderr).toContain('No tool is called "ad". Did you mean "add"?');
    expect(stderr).toContain('The quote " does not end.');
    expect(stderr).toContain('has no option --token');
    expect(stdout).toContain('leave, as Ctrl+D does');
    expect(stdout).toContain('call [tool] [name=value …]');
    expect(stderr).toContain('No task was started here.');
  });

  it('completes commands, tools and arguments with Tab, and asks for what is missing', async () => {
    const told = new Told();
    async function* keys(): AsyncGenerator<string> {
      await told.next(/> /);
      yield 'ca\t';
      await told.next(/ll /);
      yield 'ad\t';
      await told.next(/d /);
      yield 'a\t';
      await told.next(/=/);
      yield '2\n40\nexit\n';
    }
    const ran = await fullmcp([url], { terminal: true, keys: keys(), onStderr: told.set });
    expect(ran.stdout).toBe('42\n');
    expect(ran.stderr).toContain('add needs:');
  });

  it('ends only the call that runs at Ctrl+C, clears a line, and leaves at the second Ctrl+C', async () => {
    const told = new Told();
    async function* keys(): AsyncGenerator<string> {
      yield 'call ask\n';
      await told.next(/Which word/);
      await told.next(/word \(required\) {2}text/);
      yield CTRL_C;
      await told.next(/Cancelled\.[\s\S]*> /);
      yield `call add a=1 b=1${CTRL_C}`;
      await told.next(/\^C\n[\s\S]*> /);
      yield CTRL_C;
      await told.next(/Ctrl\+C again/);
      yield CTRL_C;
    }
    const ran = await fullmcp([url], { terminal: true, keys: keys(), onStderr: told.set });
    expect([ran.exit, ran.stdout]).toEqual([0, '']);
  });

  it('lists in a pipe and for JSON, and a word that is neither a command nor a target is an error', async () => {
    const pipe = await fullmcp([url]);
    expect([pipe.exit, pipe.stdout]).toEqual([0, expect.stringContaining('add(a: number, b: number)')]);
    const tools = (await fullmcp([url, '--json'])).json<{ tools: readonly unknown[] }>().tools;
    expect(tools).toHaveLength(3);
    const none = await fullmcp(['lst']);
    expect([none.exit, none.stderr]).toEqual([2, expect.stringContaining('Did you mean "list"?')]);
    const file = await fullmcp(['./none.ts']);
    expect([file.exit, file.stderr]).toEqual([2, expect.stringContaining('There is no file ./none.ts')]);
  });

  it('remembers lines in a file without secrets and answers, and survives one that was changed by hand', async () => {
    const file = join(folder, 'prompt-history.json');
    await writeFile(file, '{"lines":["\\u001b[2Jevil", 7, "list tools"]}');
    const up = '\u001b[A';
    const { stdout } = await at(
      `${up}\ncall add a=1 b=2\n call add a=5 b=5\ncall add a=1 b=2 password=hunter2\ncall ask\nmy answer\nexit\n`,
    );
    expect(stdout).toContain('add(a: number, b: number)');
    expect(stdout).not.toContain('read me');
    const kept = JSON.parse(await readFile(file, 'utf8')) as { lines: string[] };
    expect(kept.lines).toEqual(['call ask', 'call add a=1 b=2', 'list tools']);
    await writeFile(file, 'broken');
    expect((await at('list\nexit\n')).exit).toBe(0);
  });
});
