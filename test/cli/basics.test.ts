import process from 'node:process';
import { createServer, tool } from 'fullmcp';
import { serve } from 'fullmcp/node';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { allCommands } from '../../src/cli/commands.js';
import { fullmcp } from './support/run-cli.js';

let url: string;
let close: () => Promise<void>;

beforeAll(async () => {
  const server = createServer({
    name: 'shop',
    version: '1.2.3',
    tools: {
      add: tool({
        description: 'Add two numbers',
        input: z.object({ a: z.number(), b: z.number().default(1) }),
        run: ({ a, b }) => String(a + b),
      }),
      echo: tool({ input: z.looseObject({}), run: (args) => ({ args }) }),
      fails: tool({
        run: () => {
          throw new Error('x');
        },
      }),
      evil: tool({ description: '\u001b]0;owned\u0007\u202etext', run: () => '\u001b[2Jgone\u202e' }),
    },
  });
  const running = await serve(server, { port: 0 });
  url = running.url;
  close = () => running.close();
});
afterAll(() => close());

describe('fullmcp', () => {
  it('prints its commands, and its version', async () => {
    const { exit, stdout } = await fullmcp(['--help']);
    expect(exit).toBe(0);
    expect(stdout).toContain('  call ');
    expect((await fullmcp(['--version'])).stdout).toMatch(/^\d+\.\d+\.\d+(?:-rc\.\d+)?\n$/);
  });

  it.each(allCommands.map(({ name }) => name))(
    'explains %s in lines of at most 100 characters, with each option apart from its explanation',
    async (name) => {
      const { exit, stdout } = await fullmcp([...name.split(' '), '--help']);
      expect(exit).toBe(0);
      const lines = stdout.split('\n');
      const isExample = (line: string): boolean => line.startsWith('  fullmcp ') || /^ {2}\w/.test(line);
      expect(lines.filter((line) => line.length > 100 && !isExample(line))).toEqual([]);
      const options = lines.filter((line) => /^ {2}-/.test(line));
      expect(options.length).toBeGreaterThan(2);
      for (const option of options)
        expect(option).toMatch(/^ {2}(?:-\w, )?--[\w-]+(?: [<[].*?[>\]])?(?: {2,}\S.*)?$/);
    },
  );

  it('refuses a command or an option that it does not have, and names a close one', async () => {
    const { exit, stdout, stderr } = await fullmcp(['lisst', url]);
    expect({ exit, stdout, stderr }).toEqual({
      exit: 2,
      stdout: '',
      stderr: 'fullmcp has no command "lisst". Did you mean "list"?\n',
    });
    expect((await fullmcp(['list', url, '--jsn'])).stderr).toBe(
      'fullmcp list has no option --jsn. Did you mean --json?\n',
    );
  });

  it('says so if its folder was deleted, and works where it needs none', async () => {
    vi.spyOn(process, 'cwd').mockImplementation(() => {
      throw Object.assign(new Error('ENOENT: no such file or directory, uv_cwd'), { syscall: 'uv_cwd' });
    });
    try {
      expect(await fullmcp(['list', 'server.ts'])).toMatchObject({
        exit: 2,
        stderr: 'The current folder was deleted. Change to another one.\n',
      });
      expect((await fullmcp(['list', url])).exit).toBe(0);
    } finally {
      vi.restoreAllMocks();
    }
  });

  it('cannot be made to control the terminal', async () => {
    for (const words of [
      ['list', url],
      ['list', url, '--long'],
      ['list', url, '--json'],
      ['call', url, 'evil'],
      ['call', url, 'evil', '--json'],
    ]) {
      const { stdout, stderr } = await fullmcp(words);
      for (const unsafe of ['\u001b', '\u202e', '\u0007']) expect(stdout + stderr).not.toContain(unsafe);
    }
  });
});

describe('fullmcp call', () => {
  it('prints the value alone', async () => {
    const { exit, stdout, stderr } = await fullmcp(['call', url, 'add', 'a=2', 'b=40']);
    expect({ exit, stdout, stderr }).toEqual({ exit: 0, stdout: '42\n', stderr: '' });
  });

  it('reads arguments by the schema, and as JSON where there is none', async () => {
    const { json } = await fullmcp([
      'call',
      url,
      'echo',
      'text=a=b',
      'n=1',
      'list[1].x=2',
      'deep.a.b=true',
      'j:={"k":[1]}',
      '__proto__.y=1',
      '--json',
    ]);
    expect({}).not.toHaveProperty('y');
    expect(JSON.stringify(json<{ data: unknown }>().data)).toBe(
      '{"args":{"text":"a=b","n":1,"list":[null,{"x":2}],"deep":{"a":{"b":true}},"j":{"k":[1]}}}',
    );
  });

  it('sends nothing if the tool or an argument is wrong', async () => {
    expect(await fullmcp(['call', url, 'ad'])).toMatchObject({
      exit: 2,
      stderr: 'No tool is called "ad". Did you mean "add"?\n',
    });
    const wrong = await fullmcp(['call', url, 'add', 'a=x', '--json']);
    expect(wrong.exit).toBe(2);
    expect(wrong.json()).toMatchObject({ ok: false, error: { kind: 'usage', sent: false } });
  });

  it('exits with 1 if the tool fails, with 3 if nothing listens', async () => {
    const failed = await fullmcp(['call', url, 'fails']);
    expect(failed).toMatchObject({ exit: 1, stdout: '' });
    expect((await fullmcp(['call', 'http://127.0.0.1:1/mcp', 'add'])).exit).toBe(3);
  });
});
