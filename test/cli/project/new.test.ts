import { execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { freePort } from '../../support/free-port.js';
import { until } from '../../support/until.js';
import { fullmcp } from '../support/run-cli.js';
import { folderWith, linkPackages, plainEnv, program } from './support.js';

const execute = promisify(execFile);

/** The words after the name of the program in CMD, and after that of Node in HEALTHCHECK. */
function programsOf(lines: readonly string[]): { command: string[]; health: string[] } {
  const words = (start: RegExp): string[] => {
    const line = lines.find((one) => start.test(one)) ?? '';
    return (JSON.parse(line.slice(line.indexOf('['))) as string[]).slice(1);
  };
  return { command: words(/^CMD /), health: words(/^HEALTHCHECK /) };
}

/** A program that sends a request with a Host header, which `fetch` does not let through, and prints the reply. */
function askAs(host: string): string {
  return `require('node:http').request({ port: process.argv[1], path: '/mcp', method: 'POST', headers: { host: '${host}' } }, (res) => res.pipe(process.stdout)).end('{}')`;
}

describe('fullmcp new', { timeout: 120_000 }, () => {
  it.each([
    ['minimal', 'Hello, Ada!\n'],
    ['http-auth', 'Noted\n'],
    ['gateway', /^\d{4}-/],
    ['openapi', /"Pear"/],
  ] as const)(
    'makes a project %s that compiles, passes its tests and requests, answers the call that it prints and leaves nothing to lint for any host',
    async (template, answer) => {
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
          'AGENTS.md',
          'CLAUDE.md',
        ]),
      );
      await linkPackages(folder);

      const at = { cwd: folder, env: plainEnv };
      await execute(process.execPath, ['node_modules/typescript/bin/tsc'], at);
      await execute(process.execPath, ['--import', 'jiti/register', '--test', 'test/server.test.ts'], at);
      const [npx, command, ...words] = made.json<{ next: string[] }>().next.at(-1)?.split(' ') ?? [];
      expect([npx, command]).toEqual(['npx', 'fullmcp']);
      const { stdout } = await execute(process.execPath, [program, ...words], at);
      expect(stdout).toMatch(answer);
      const lint = [program, 'lint', 'src/server.ts', '--json'];
      const linted = JSON.parse((await execute(process.execPath, lint, at)).stdout) as object;
      expect(linted).toMatchObject({ ok: true, findings: [] });
      const hosts = ['chatgpt', 'claude', 'copilot', 'cursor', 'gemini', 'codex'].flatMap((host) => [
        '--for',
        host,
      ]);
      const forHosts = (await execute(process.execPath, [...lint, ...hosts, '--fail-on', 'warning'], at))
        .stdout;
      expect(JSON.parse(forHosts)).toMatchObject({ ok: true, errors: 0, warnings: 0 });
      const tested = await execute(process.execPath, [program, 'test', '--json'], at);
      expect(JSON.parse(tested.stdout)).toMatchObject({ ok: true, failed: 0 });
    },
  );

  it('sends coding agents to the documentation of the installed version, unless --no-agents is given', async () => {
    const folder = join(await folderWith({}), 'shop');
    await fullmcp(['new', folder, '--yes']);
    const agents = await readFile(join(folder, 'AGENTS.md'), 'utf8');
    expect(agents).toMatch(/^<!-- BEGIN:fullmcp -->\n[\s\S]*\n<!-- END:fullmcp -->\n$/);
    expect(agents).toContain('`node_modules/fullmcp/dist/docs`');
    expect(await readFile(join(folder, 'CLAUDE.md'), 'utf8')).toBe('@AGENTS.md\n');
    const page = await readFile(new URL('../../../docs/for-agents.md', import.meta.url), 'utf8');
    const [, shown = ''] = /```md\n([\s\S]*?)```/.exec(page) ?? [];
    expect(agents.startsWith(shown.slice(0, shown.indexOf('<!-- END')).trimEnd())).toBe(true);

    const without = await fullmcp(['new', `${folder}-2`, '--yes', '--no-agents', '--json']);
    expect(without.json<{ files: string[] }>().files).not.toContain('AGENTS.md');
    expect(existsSync(`${folder}-2/CLAUDE.md`)).toBe(false);
  });

  it('makes a project openapi that calls the API of API_URL', async () => {
    const folder = join(await folderWith({}), 'shop');
    await fullmcp(['new', folder, '--template', 'openapi', '--yes']);
    await linkPackages(folder);
    const api = createServer((_, response) => {
      response.setHeader('content-type', 'application/json').end('{"id":1,"name":"Plum"}');
    });
    await new Promise<void>((resolve) => api.listen(0, '127.0.0.1', resolve));
    const env = { ...plainEnv, API_URL: `http://127.0.0.1:${(api.address() as AddressInfo).port}` };
    const words = ['call', 'src/server.ts', 'getItem', 'id=1', '-e', 'API_URL'];
    const { stdout, stderr } = await execute(process.execPath, [program, ...words], { cwd: folder, env });
    expect([stdout, stderr]).toEqual([
      expect.stringContaining('"Plum"'),
      expect.not.stringContaining('demo-api'),
    ]);
    api.close();
  });

  it('makes a Dockerfile that installs from a lock file, is checked for its health and answers other containers', async () => {
    const folder = join(await folderWith({}), 'shop');
    await fullmcp(['new', folder, '--yes']);
    const lines = (await readFile(join(folder, 'Dockerfile'), 'utf8')).split('\n');
    expect(lines).toContainEqual(expect.stringMatching(/^RUN if .* npm ci --omit=dev .* else npm install/));
    expect(lines).toContainEqual(expect.stringMatching(/^USER node$/));
    const settings =
      lines
        .find((line) => line.startsWith('ENV '))
        ?.slice(4)
        .split(' ') ?? [];
    const env = Object.fromEntries(settings.map((setting) => setting.split('=')));
    await linkPackages(folder);
    // The program of the image, and its health check, with a free port.
    const { command, health } = programsOf(lines);
    const port = await freePort();
    const image = { ...plainEnv, ...env, PORT: String(port) };
    const child = spawn(process.execPath, [program, ...command], {
      cwd: folder,
      env: image,
      stdio: 'ignore',
    });
    onTestFinished(() => void child.kill());
    await until('the health check passes', () =>
      execute(process.execPath, health, { env: image }).then(
        () => true,
        () => false,
      ),
    );
    const sibling = await execute(process.execPath, ['-e', askAs('shop:3000'), String(port)], {
      env: plainEnv,
    });
    expect(sibling.stdout).not.toContain('is not allowed');
    const stranger = await execute(process.execPath, ['-e', askAs('evil.example'), String(port)], {
      env: plainEnv,
    });
    expect(stranger.stdout).toContain('is not allowed');
  });

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
    expect(stderr).toBe(
      '"My Shop" cannot be the name of a package. Use --name. "My Shop" has other characters than a-z, 0-9, "-" and "_". Did you mean my-shop?\n',
    );
  });

  it.each([
    ['zod', 'The project needs "zod" itself: choose another name.'],
    ['_shop', '"_shop" does not begin with a letter or a digit. Did you mean shop?'],
    ['Ünïcode', '"Ünïcode" has other characters than a-z, 0-9, "-" and "_". Did you mean n-code?'],
    [
      'a'.repeat(65),
      `"${'a'.repeat(65)}" has 65 characters, and a name has at most 64. Did you mean ${'a'.repeat(64)}?`,
    ],
    ['***', '"***" has other characters than a-z, 0-9, "-" and "_".'],
  ])('says what is wrong with the name %s', async (name, hint) => {
    const { stderr } = await fullmcp(['new', 'nowhere', '--name', name, '--yes']);
    expect(stderr).toBe(`${JSON.stringify(name)} cannot be the name of a package. Use --name. ${hint}\n`);
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
    const folder = join(await folderWith({}), 'My Shop');
    const made = await fullmcp(['new', folder], {
      terminal: true,
      keys: 'No Name\nfruit\nfancy\nhttp-auth\n\n',
    });
    expect(made.exit).toBe(0);
    expect(made.stderr).toContain('Name [My Shop]: ');
    expect(made.stderr).toContain(
      '"No Name" has other characters than a-z, 0-9, "-" and "_". Did you mean no-name?\n',
    );
    expect(made.stderr).toContain('  openapi    the operations of a REST API as tools\nTemplate (');
    expect(made.stderr).toContain(
      '  http       the server listens at an address, for many clients\nTransport (',
    );
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

  it('does not ask for the name that was typed as the folder', async () => {
    const folder = join(await folderWith({}), 'shop');
    const made = await fullmcp(['new', folder], { terminal: true, keys: '\n\n' });
    expect(made.exit).toBe(0);
    expect(made.stderr).not.toContain('Name [');
    expect(JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))).toMatchObject({ name: 'shop' });
  });

  it('counts the files that are in the way and not named', async () => {
    const folder = join(await folderWith({}), 'shop');
    await fullmcp(['new', folder, '--yes']);
    const again = await fullmcp(['new', folder, '--yes']);
    expect(again.stderr).toMatch(/already has package\.json, .* and 9 more files\. Nothing was written/);
  });

  it('writes nothing if the person stops at a question', async () => {
    const folder = join(await folderWith({}), 'shop');
    let isAsked!: () => void;
    const asked = new Promise<void>((resolve) => {
      isAsked = resolve;
    });
    async function* keys(): AsyncGenerator<string> {
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
