import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { fullmcp } from '../support/run-cli.js';
import { folderWith, linkPackages, plainEnv, program } from './support.js';

const execute = promisify(execFile);

describe('fullmcp new', { timeout: 120_000 }, () => {
  it.each([
    ['minimal', ['greet', 'name=Ada'], 'Hello, Ada!\n'],
    ['http-auth', ['add_note', 'text=Hello'], 'Noted\n'],
    ['gateway', ['clock_now'], /^\d{4}-/],
    ['openapi', ['getItem', 'id=1', '-e', 'API_URL'], /"Pear"/],
  ] as const)(
    'makes a project %s that compiles, passes its tests, answers a call and leaves nothing to lint',
    async (template, call, answer) => {
      const folder = join(await folderWith({}), 'shop');
      const made = await fullmcp(['new', folder, '--template', template, '--yes', '--json']);
      expect(made.exit).toBe(0);
      expect(made.json()).toMatchObject({ ok: true, folder, name: 'shop', template });
      expect(made.json<{ files: string[] }>().files).toEqual(
        expect.arrayContaining([
          'package.json',
          'src/server.ts',
          'test/server.test.ts',
          'Dockerfile',
          'README.md',
          '.mcp.json',
          '.cursor/mcp.json',
          '.vscode/mcp.json',
        ]),
      );
      await linkPackages(folder);

      const api = createServer((_, response) => {
        response.setHeader('content-type', 'application/json').end('{"id":1,"name":"Pear"}');
      });
      await new Promise<void>((resolve) => api.listen(0, '127.0.0.1', resolve));
      const at = {
        cwd: folder,
        env: { ...plainEnv, API_URL: `http://127.0.0.1:${(api.address() as AddressInfo).port}` },
      };
      try {
        await execute(process.execPath, ['node_modules/typescript/bin/tsc'], at);
        await execute(process.execPath, ['--import', 'jiti/register', '--test', 'test/server.test.ts'], at);
        const { stdout } = await execute(process.execPath, [program, 'call', 'src/server.ts', ...call], at);
        expect(stdout).toMatch(answer);
        const lint = [program, 'lint', 'src/server.ts', '-e', 'API_URL', '--json'];
        const linted = JSON.parse((await execute(process.execPath, lint, at)).stdout) as object;
        expect(linted).toMatchObject({ ok: true, findings: [] });
      } finally {
        api.close();
      }
    },
  );

  it('writes nothing if one of its files exists', async () => {
    const folder = await folderWith({ 'README.md': 'mine' });
    const { exit, stdout, stderr } = await fullmcp(['new', folder, '--name', 'x', '--yes']);
    expect({ exit, stdout }).toEqual({ exit: 2, stdout: '' });
    expect(stderr).toContain('already has package.json, README.md. Nothing was written');
    expect(await readFile(join(folder, 'README.md'), 'utf8')).toBe('mine');
    await expect(readFile(join(folder, 'tsconfig.json'))).rejects.toThrow();
  });

  it.each([
    '',
    '../up',
    'a b',
    'a.b',
    "x';rm",
    'UPPER',
    '-flag',
    'ünï',
    'fullmcp',
    '__proto__',
    'x'.repeat(65),
  ])('refuses the name %j', async (name) => {
    const folder = join(await folderWith({}), 'project');
    const refused = await fullmcp(['new', folder, `--name=${name}`, '--yes', '--json']);
    expect(refused.exit).toBe(2);
    expect(refused.json()).toMatchObject({
      ok: false,
      error: { kind: 'usage', message: expect.stringContaining(`${JSON.stringify(name)} cannot be`) },
    });
    await expect(writeFile(join(folder, 'x'), '')).rejects.toThrow();
  });

  it('takes the name from the folder, and says what to do if it cannot', async () => {
    const { exit, stderr } = await fullmcp(['new', join(await folderWith({}), 'My Shop'), '--yes']);
    expect(exit).toBe(2);
    expect(stderr).toContain('"My Shop" cannot be the name of a package. Use --name.');
  });

  it('says so if the folder is a file, or a file is a link to nowhere', async () => {
    const folder = await folderWith({ taken: '' });
    expect(await fullmcp(['new', join(folder, 'taken'), '--yes'])).toMatchObject({ exit: 2, stdout: '' });
    await mkdir(join(folder, 'linked'));
    await symlink(join(folder, 'elsewhere.md'), join(folder, 'linked/README.md'));
    const linked = await fullmcp(['new', join(folder, 'linked'), '--yes']);
    expect(linked).toMatchObject({ exit: 2, stdout: '' });
    expect(linked.stderr).toContain('already has README.md. Nothing was written');
    expect(await readdir(join(folder, 'linked'))).toEqual(['README.md']);
  });

  it('asks three questions at a terminal, each again if the answer is wrong', async () => {
    const folder = join(await folderWith({}), 'shop');
    const made = await fullmcp(['new', folder], {
      terminal: true,
      keys: 'No Name\nfruit\nfancy\nhttp-auth\n\n',
    });
    expect(made.exit).toBe(0);
    expect(made.stderr).toContain('Name [shop]: ');
    expect(made.stderr).toContain('Choose one of minimal, http-auth, gateway, openapi.');
    expect(made.stderr).toContain('Transport (stdio, http) [http]: ');
    expect(JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))).toMatchObject({
      name: 'fruit',
      scripts: { start: 'fullmcp run src/server.ts --http' },
    });
    // Each host has its own way to name a variable.
    expect(await readFile(join(folder, '.mcp.json'), 'utf8')).toContain(`"Bearer $\{API_KEY}"`);
    expect(await readFile(join(folder, '.vscode/mcp.json'), 'utf8')).toContain(`"Bearer $\{env:API_KEY}"`);
  });

  it('writes nothing if the person stops at a question', async () => {
    const folder = join(await folderWith({}), 'shop');
    let isAsked!: () => void;
    const asked = new Promise<void>((resolve) => {
      isAsked = resolve;
    });
    async function* keys(): AsyncGenerator<string> {
      yield 'fruit\n';
      await asked;
      yield '\u0004';
    }
    const stopped = await fullmcp(['new', folder], {
      terminal: true,
      keys: keys(),
      onStderr: (written) => {
        if (written.includes('Template (')) isAsked();
      },
    });
    expect(stopped.exit).toBe(130);
    expect(existsSync(folder)).toBe(false);
  });

  it('prints the next commands on stdout and the files on stderr', async () => {
    const folder = join(await folderWith({}), 'shop');
    const { stdout, stderr } = await fullmcp(['new', folder, '--yes']);
    expect(stdout).toBe(
      `cd ${folder}\nnpm install\nnpm test\nnpx fullmcp call src/server.ts greet name=Ada\n`,
    );
    expect(stderr).toContain('  src/server.ts\n');
  });
});
