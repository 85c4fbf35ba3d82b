import { chmod, mkdir, mkdtemp, readdir, readFile, readlink, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readFrontmatter } from '../../../src/protocol/model/skills/skill.js';
import { fullmcp } from '../support/run-cli.js';

const source = fileURLToPath(new URL('../../../skills/fullmcp/SKILL.md', import.meta.url));
const AGENTS = '.agents/skills/fullmcp/SKILL.md';
const CLAUDE = '.claude/skills/fullmcp/SKILL.md';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fullmcp-skill-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const install = (...options: string[]) => fullmcp(['install-skill', folder, ...options]);
const textOf = (path: string) => readFile(join(folder, path), 'utf8');

describe('the skill of the package', () => {
  it('has the front matter of Agent Skills, in less than 5 kB', async () => {
    const text = await readFile(source, 'utf8');
    const { name, metadata } = readFrontmatter(text);
    expect(name).toBe('fullmcp');
    expect(Object.values(metadata as object).every((value) => typeof value === 'string')).toBe(true);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(5000);
  });
});

describe('fullmcp install-skill', () => {
  it('writes the skill where hosts look for it, and nothing the second time', async () => {
    const first = await install('--yes', '--json');
    expect(first.json()).toMatchObject({
      ok: true,
      written: true,
      files: [
        { path: AGENTS, change: 'new' },
        { path: CLAUDE, change: 'new' },
      ],
    });
    const text = await textOf(AGENTS);
    expect(text.startsWith(await readFile(source, 'utf8'))).toBe(true);
    expect(await textOf(CLAUDE)).toBe(text);
    const second = await install('--yes');
    expect(second).toMatchObject({ exit: 0, stdout: '' });
    expect(second.stderr).toContain('is there already');
  });

  it('shows the files and asks first, and writes nothing after a no', async () => {
    const refused = await fullmcp(['install-skill', folder], { terminal: true, keys: 'n\n' });
    expect(refused.exit).toBe(1);
    expect(refused.stderr).toContain(`${AGENTS}  new, `);
    expect(await readdir(folder)).toEqual([]);
    const accepted = await fullmcp(['install-skill', folder], { terminal: true, keys: 'y\n' });
    expect(accepted.exit).toBe(0);
    expect(await readdir(folder)).toEqual(['.agents', '.claude']);
  });

  it('asks for --yes where nobody can answer', async () => {
    const { exit, stderr } = await install();
    expect(exit).toBe(2);
    expect(stderr).toContain('Add --yes');
    expect(await readdir(folder)).toEqual([]);
  });

  it('prints the skill with --dry-run, and writes nothing', async () => {
    const { exit, stdout } = await install('--dry-run');
    expect(exit).toBe(0);
    expect(readFrontmatter(stdout).name).toBe('fullmcp');
    expect(await readdir(folder)).toEqual([]);
  });

  it('replaces the file of an earlier version that nobody has changed', async () => {
    const earlier = '---\nname: fullmcp\ndescription: Earlier\n---\n\nText.\n';
    const { createHash } = await import('node:crypto');
    const digest = createHash('sha256').update(earlier).digest('hex').slice(0, 32);
    await mkdir(join(folder, '.agents/skills/fullmcp'), { recursive: true });
    await writeFile(join(folder, AGENTS), `${earlier}\n<!-- fullmcp 0.0.1 sha256:${digest} -->\n`);
    const { json } = await install('--yes', '--json');
    expect(json()).toMatchObject({ files: [{ change: 'updated' }, { change: 'new' }] });
    expect(await textOf(AGENTS)).toBe(await textOf(CLAUDE));
  });

  it('leaves a file alone that somebody has changed, and the other one, too, unless --force is given', async () => {
    await install('--yes');
    const mine = (await textOf(CLAUDE)).replace('## Pitfalls', '## My pitfalls');
    await writeFile(join(folder, CLAUDE), mine);
    await rm(join(folder, AGENTS));
    const refused = await install('--yes');
    expect(refused.exit).toBe(1);
    expect(refused.stderr).toContain(`${CLAUDE}: changed after it was installed`);
    expect(await textOf(CLAUDE)).toBe(mine);
    expect(await readdir(join(folder, '.agents/skills/fullmcp'))).toEqual([]);
    const forced = await install('--yes', '--force', '--json');
    expect(forced.json()).toMatchObject({ files: [{ change: 'new' }, { change: 'overwritten' }] });
    expect(await textOf(CLAUDE)).toBe(await textOf(AGENTS));
  });

  it.each(['.agents', '.agents/skills', '.agents/skills/fullmcp'])(
    'refuses a link in the way that leads out of the project: %s',
    async (path) => {
      const outside = await mkdtemp(join(tmpdir(), 'fullmcp-outside-'));
      await mkdir(join(folder, path, '..'), { recursive: true });
      await symlink(outside, join(folder, path));
      const { exit, stderr } = await install('--yes', '--force');
      expect(exit).toBe(1);
      expect(stderr).toContain('leads out of the project');
      expect(await readdir(outside)).toEqual([]);
      await rm(outside, { recursive: true });
    },
  );

  it('refuses a link to nowhere, and a link in place of the file', async () => {
    await symlink(join(folder, 'nowhere'), join(folder, '.claude'));
    expect((await install('--yes')).stderr).toContain('leads nowhere');
    await rm(join(folder, '.claude'));
    await mkdir(join(folder, '.claude/skills/fullmcp'), { recursive: true });
    await writeFile(join(folder, 'mine.md'), 'mine');
    await symlink(join(folder, 'mine.md'), join(folder, CLAUDE));
    const { exit, stderr } = await install('--yes', '--force');
    expect(exit).toBe(1);
    expect(stderr).toContain('remove it first');
    expect(await textOf('mine.md')).toBe('mine');
    expect(await readlink(join(folder, CLAUDE))).toBe(join(folder, 'mine.md'));
  });

  it('writes through a link that stays in the project', async () => {
    await mkdir(join(folder, '.agents/skills'), { recursive: true });
    await mkdir(join(folder, '.claude'));
    await symlink('../.agents/skills', join(folder, '.claude/skills'));
    expect((await install('--yes')).exit).toBe(0);
    expect(await readdir(join(folder, '.agents/skills'))).toEqual(['fullmcp']);
    expect((await install('--yes')).stderr).toContain('is there already');
  });

  it('refuses a file in place of a folder, and a folder that does not exist', async () => {
    await writeFile(join(folder, '.claude'), '');
    expect(await install('--yes')).toMatchObject({
      exit: 1,
      stderr: expect.stringContaining('is not a folder'),
    });
    expect(await readdir(folder)).toEqual(['.claude']);
    const missing = await fullmcp(['install-skill', join(folder, 'nope'), '--yes']);
    expect(missing).toMatchObject({ exit: 2, stderr: expect.stringContaining('There is no folder') });
  });

  // The administrator may write everywhere.
  it.skipIf(process.getuid?.() === 0)('says so if the folder cannot be written', async () => {
    await chmod(folder, 0o555);
    const { exit, stderr } = await install('--yes');
    await chmod(folder, 0o755);
    expect(exit).toBe(1);
    expect(stderr).toContain('cannot be written (EACCES)');
  });
});
