import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startHttp } from '../support/processes.js';

// Follows docs/typescript.md as a reader would: with its own commands, in an empty folder, with the packed package.

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'fullmcp-typescript-'));
const project = join(folder, 'math');
const page = readFileSync(join(root, 'docs/typescript.md'), 'utf8');
const commands = [...page.matchAll(/```bash\n([\s\S]*?)```/g)].map(([, block = '']) => block);
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
const stripsTypes = major > 22 || (major === 22 && minor >= 18);

beforeAll(async () => {
  const packed = await promisify(execFile)(process.execPath, ['scripts/pack.js', folder], { cwd: root });
  const [{ filename }] = JSON.parse(packed.stdout) as [{ filename: string }];
  await shell(commands[0]?.replace(' fullmcp ', ` "${join(folder, filename)}" `) ?? 'false', folder);
  cpSync(join(root, 'examples/typescript'), project, { recursive: true });
}, 180_000);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('the project of docs/typescript.md compiles, and its output runs', async () => {
  expect(await shell('npm run --silent check')).toBe('');
  expect(await shell(commands[1] ?? 'false')).toContain('2 + 40 = 42');
}, 120_000);

test('the project of docs/typescript.md runs with jiti', async () => {
  expect(await shell('node --import jiti/register src/client.ts src/stdio.ts')).toBe('2 + 40 = 42\n');
}, 60_000);

test('the project of docs/typescript.md runs on Node alone if Node strips types; otherwise Node reports that it does not', async () => {
  if (stripsTypes) {
    expect(await shell('node src/client.ts src/stdio.ts')).toBe('2 + 40 = 42\n');
    const server = await startHttp(join(project, 'src/http.ts'));
    try {
      expect(await shell(`node src/client.ts ${server.url}`)).toBe('2 + 40 = 42\n');
    } finally {
      await server.stop();
    }
  } else {
    await expect(shell('node src/client.ts src/stdio.ts')).rejects.toThrow('Unknown file extension ".ts"');
  }
}, 60_000);

/** Runs commands with the Node that runs the tests, and returns their output. */
async function shell(script: string, cwd = project): Promise<string> {
  const env = { ...process.env, PATH: `${dirname(process.execPath)}${delimiter}${process.env['PATH']}` };
  const { stdout } = await promisify(execFile)('bash', ['-ec', script], { cwd, env });
  return stdout;
}
