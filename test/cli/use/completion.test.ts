import { execFileSync, spawnSync } from 'node:child_process';
import { chmod, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import process from 'node:process';
import { createServer, tool } from 'fullmcp';
import { serve } from 'fullmcp/node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { demoServer } from '../support/demo.js';
import { fullmcp } from '../support/run-cli.js';

// A server whose names are commands for a shell. The tools of a server have to have plain names, so a middleware replaces them.
const NAMES = [
  '; touch owned',
  '$(touch owned)',
  '`touch owned`',
  "a'b",
  'x y',
  '--help',
  '\u001b]0;t\u0007',
  'tab\there',
  '\u202ex',
  'ok',
];
const demo = demoServer();
let folder: string;
let hostile: string;
let close: () => Promise<void>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fullmcp-shell-'));
  const server = createServer({
    name: 'hostile',
    version: '1.0.0',
    tools: { ok: tool({ input: z.object({ size: z.enum(['small', 'large']) }), run: () => 'ok' }) },
    use: [
      async (call, next) => {
        const result = await next(call);
        if (call.method !== 'tools/list') return result;
        return { ...result, tools: NAMES.map((name) => ({ name, inputSchema: { type: 'object' } })) };
      },
    ],
  });
  const running = await serve(server, { port: 0 });
  hostile = running.url;
  close = () => running.close();
});
afterAll(async () => {
  await close();
  await rm(folder, { recursive: true });
});

/** The line with a limit that a busy machine can keep. */
function patient([command = '', ...words]: readonly string[]): readonly string[] {
  return ['call', 'prompt', 'read'].includes(command)
    ? [command, '--timeout', '30s', ...words]
    : [command, ...words];
}

async function completed(shell: string, ...words: string[]): Promise<readonly string[]> {
  const { exit, stdout, stderr } = await fullmcp(['__complete', shell, '--', ...patient(words)]);
  expect({ exit, stderr }).toEqual({ exit: 0, stderr: '' });
  return stdout.split('\n').slice(0, -1);
}

describe('fullmcp __complete', () => {
  it('completes commands, options and the values of options', async () => {
    expect(await completed('zsh', 'compl')).toEqual(['completion']);
    expect(await completed('zsh', 'call', demo.url, '--idem')).toEqual(['--idempotency-key']);
    expect(await completed('zsh', 'call', '--log', 'no')).toEqual(['notice']);
    expect(await completed('zsh', 'completion', '')).toEqual(['bash', 'zsh', 'fish']);
    expect(await completed('zsh', 'list', demo.url, 'r')).toEqual(['resources']);
  });

  it('completes tools, arguments, resources, prompts and their values from the server', async () => {
    expect(await completed('zsh', 'call', demo.url, 'a')).toEqual(['add', 'add_note']);
    expect(await completed('zsh', 'call', demo.url, 'add', '')).toEqual(['a=', 'b=']);
    expect(await completed('zsh', 'read', demo.url, 'demo')).toEqual(['demo://readme']);
    expect(await completed('zsh', 'prompt', demo.url, 'explain', 'topic=br')).toEqual([
      'topic=bridges',
      'topic=bread',
    ]);
  });

  it('joins the words that bash splits, and prints only the part that bash replaces', async () => {
    const { hostname, port, pathname } = new URL(demo.url);
    const url = ['http', ':', `//${hostname}`, ':', `${port}${pathname}`];
    const bash = ['__complete', 'bash', ' \t\n=:', '--'];
    expect((await fullmcp([...bash, ...patient(['call', ...url, 'add_'])])).stdout).toBe('add_note\n');
    expect(
      (await fullmcp([...bash, ...patient(['prompt', ...url, 'explain', 'topic', '=', 'br'])])).stdout,
    ).toBe('bridges\nbread\n');
    expect((await fullmcp([...bash, ...patient(['read', ...url, 'demo', ':'])])).stdout).toBe('//readme\n');
  });

  it('starts no program, and says nothing if the server cannot be reached', async () => {
    const mark = join(folder, 'started');
    expect(await completed('bash', 'call', '', '--', 'touch', mark, '')).toEqual([]);
    await writeFile(
      join(folder, 'evil.mjs'),
      `import { writeFileSync } from 'node:fs'; writeFileSync(${JSON.stringify(mark)}, '');`,
    );
    expect(await completed('bash', 'call', join(folder, 'evil.mjs'), '')).toEqual([]);
    expect(await readdir(folder)).not.toContain('started');
    expect(await completed('bash', 'call', 'http://127.0.0.1:1/mcp', '')).toEqual([]);
    expect(await completed('bash')).not.toEqual([]);
  });

  it('leaves out names that a terminal obeys or hides, and names of options', async () => {
    const names = await completed('fish', 'call', hostile, '');
    expect(names).toEqual(['; touch owned', '$(touch owned)', '`touch owned`', "a'b", 'x y', 'ok']);
  });
});

/** A program `fullmcp` for a shell, which prints what the real one prints for this line. */
async function shim(shell: string, ...words: string[]): Promise<Record<string, string>> {
  const lines = await completed(shell, ...words);
  await writeFile(join(folder, 'candidates'), lines.map((line) => `${line}\n`).join(''));
  await writeFile(join(folder, 'fullmcp'), `#!/bin/sh\ncat '${join(folder, 'candidates')}'\n`);
  await chmod(join(folder, 'fullmcp'), 0o755);
  const { stdout } = await fullmcp(['completion', shell]);
  await writeFile(join(folder, `script.${shell}`), stdout);
  return { ...process.env, PATH: `${folder}${delimiter}${process.env['PATH']}` } as Record<string, string>;
}

function has(shell: string): boolean {
  return spawnSync(shell, ['-c', 'exit 0']).status === 0;
}

describe('fullmcp completion', () => {
  it('prints a script, and refuses other shells', async () => {
    expect((await fullmcp(['completion', 'bash', '--json'])).json()).toMatchObject({
      ok: true,
      shell: 'bash',
    });
    expect(await fullmcp(['completion', 'csh'])).toMatchObject({ exit: 2, stdout: '' });
  });

  it.runIf(has('bash'))(
    'gives bash words that stand for exactly the names, and executes nothing',
    async () => {
      const env = await shim('bash', 'call', hostile, '');
      const code = `source ./script.bash
COMP_WORDS=(fullmcp call "$0" ''); COMP_CWORD=3; _fullmcp_complete
for one in "\${COMPREPLY[@]}"; do eval "set -- $one"; printf '%s|%s\\n' "$#" "$1"; done`;
      const printed = execFileSync('bash', ['-c', code, hostile], { cwd: folder, env, encoding: 'utf8' });
      expect(printed.split('\n')).toEqual([
        '1|; touch owned',
        '1|$(touch owned)',
        '1|`touch owned`',
        "1|a'b",
        '1|x y',
        '1|ok',
        '',
      ]);
      expect(await readdir(folder)).not.toContain('owned');
    },
  );

  it.runIf(has('fish'))('gives fish the names, and executes nothing', async () => {
    const env = await shim('fish', 'call', hostile, '');
    const code = `source ./script.fish; complete -C 'fullmcp call x '`;
    const printed = execFileSync('fish', ['--no-config', '-c', code], { cwd: folder, env, encoding: 'utf8' });
    expect(printed.split('\n')).toEqual(expect.arrayContaining(['; touch owned', '$(touch owned)', 'ok']));
    expect(await readdir(folder)).not.toContain('owned');
  });

  it.runIf(has('zsh'))('gives zsh the names, and executes nothing', async () => {
    const env = await shim('zsh', 'call', hostile, '');
    const code = `compdef() { :; }; compadd() { printf '%s\\n' "$@"; }; _files() { :; }
source ./script.zsh; words=(fullmcp call x ''); CURRENT=4; _fullmcp_complete`;
    const printed = execFileSync('zsh', ['-f', '-c', code], { cwd: folder, env, encoding: 'utf8' });
    expect(printed.split('\n')).toEqual(expect.arrayContaining(['; touch owned', '$(touch owned)', 'ok']));
    expect(await readdir(folder)).not.toContain('owned');
  });
});
