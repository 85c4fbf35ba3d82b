import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { plainEnv } from './support.js';

// The steps of a new user, in an empty folder, with the packed tarball and the registry.

const root = fileURLToPath(new URL('../../../', import.meta.url));
let folder: string;
let tarball: string;

/** Runs npm or npx as a user does. */
async function shell(command: string, args: readonly string[], cwd: string): Promise<string> {
  const options = { cwd, env: plainEnv, shell: process.platform === 'win32' };
  const { stdout } = await promisify(execFile)(command, args, options).catch((error) => {
    const { stdout: out = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new Error(`${command} ${args.join(' ')} failed:\n${out}${stderr}`, { cause: error });
  });
  return stdout;
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fullmcp-new-user-'));
  const packed = await shell(process.execPath, ['scripts/pack.js', folder], root);
  const [{ filename }] = JSON.parse(packed) as [{ filename: string }];
  tarball = join(folder, filename);
});

afterAll(() => rm(folder, { recursive: true, force: true }));

describe('the first minute of a new user', { timeout: 180_000 }, () => {
  it('leads from an empty folder to a first call of a tool', async () => {
    const startedAt = performance.now();
    const project = await installed();
    const answered = await shell('npx', ['fullmcp', 'call', 'src/server.ts', 'greet', 'name=Ada'], project);
    expect(answered).toBe('Hello, Ada!\n');
    console.log(
      `The first call was answered after ${((performance.now() - startedAt) / 1000).toFixed(1)} s.`,
    );
    expect(await shell('npm', ['test'], project)).toContain('fail 0');
  });

  // The packages are the same, so that one installation is enough.
  it.each([
    ['http-auth', 'Noted\n'],
    ['gateway', /^\d{4}-/],
    ['openapi', /"Pear"/],
  ] as const)('works with the template %s, too', async (template, answer) => {
    const minimal = await installed();
    const project = join(folder, template);
    const printed = await shell('npx', ['fullmcp', 'new', project, '--template', template, '--yes'], minimal);
    const [npx = '', ...words] = printed.trim().split('\n').at(-1)?.split(' ') ?? [];
    expect(await packagesOf(project)).toEqual(await packagesOf(minimal));
    await symlink(join(minimal, 'node_modules'), join(project, 'node_modules'), 'junction');
    expect(await shell(npx, words, project)).toMatch(answer);
    expect(await shell('npm', ['test'], project)).toContain('fail 0');
  });
});

let installing: Promise<string> | undefined;

/** The folder of a first project with its packages. It is made once, by whichever test needs it first. */
function installed(): Promise<string> {
  installing ??= install();
  return installing;
}

async function install(): Promise<string> {
  const command = ['--yes', `--package=${tarball}`, 'fullmcp', 'new', 'minimal', '--yes'];
  expect(await shell('npx', command, folder)).toContain('cd minimal\nnpm install\n');
  const project = join(folder, 'minimal');
  await shell('npm', ['install', '--no-audit', '--no-fund', '--prefer-offline', tarball], project);
  return project;
}

async function packagesOf(project: string): Promise<readonly string[]> {
  const { dependencies, devDependencies } = JSON.parse(await readFile(join(project, 'package.json'), 'utf8'));
  return Object.keys({ ...dependencies, ...devDependencies }).sort();
}
