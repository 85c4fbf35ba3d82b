import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer, resource } from 'fullmcp';
import { connect } from 'fullmcp/client';
import { type Skill, type SkillFiles, saveSkill, skills, skillsFrom, skillsOf } from 'fullmcp/skills';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

// Saving skills: whole and verified, or not at all.

const front = '---\nname: pdf\ndescription: Reads.\n---\n';
const uri = 'skill://pdf/SKILL.md';
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fullmcp-save-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function skillOf(files: SkillFiles): Promise<Skill> {
  const server = createServer({
    name: 'docs',
    version: '1.0.0',
    extensions: [await skillsFrom({ pdf: files })],
  });
  return skillsOf(await connect(server)).get(uri);
}

/** A skill of a server that says one thing and sends another. */
async function lyingSkill(
  files: Readonly<Record<string, string>>,
  sent: Readonly<Record<string, string>> = files,
): Promise<Skill> {
  const resources = Object.entries(files).map(([path, text]) => ({
    uri: `skill://pdf/${path}`,
    digest: `sha256:${createHash('sha256').update(text).digest('hex')}`,
    size: text.length,
  }));
  const server = createServer({
    name: 'liar',
    version: '1.0.0',
    extensions: { 'io.modelcontextprotocol/skills': {} },
    resources: { 'skill://pdf/{+path}': resource({ read: ({ path }: { path: string }) => sent[path] }) },
    methods: {
      'skills/get': {
        run: () => ({ skill: { uri, frontmatter: { name: 'pdf', description: 'Reads.' }, resources } }),
      },
    },
  });
  return skillsOf(await connect(server)).get(uri);
}

describe('saveSkill', () => {
  test('saves all files, none of them executable, and the folder can be served again', async () => {
    const bytes = Uint8Array.from([0, 255, 1]);
    const skill = await skillOf({ 'SKILL.md': `${front}Read.`, 'a/b/run.sh': 'rm -rf /', 'logo.png': bytes });
    const path = await saveSkill(skill, join(folder, 'new', 'skills'));
    expect(await readFile(join(path, 'SKILL.md'), 'utf8')).toBe(`${front}Read.`);
    expect(await readFile(join(path, 'a/b/run.sh'), 'utf8')).toBe('rm -rf /');
    expect(new Uint8Array(await readFile(join(path, 'logo.png')))).toEqual(bytes);
    expect((await stat(join(path, 'a/b/run.sh'))).mode & 0o111).toBe(0);
    expect(await readdir(join(folder, 'new', 'skills'))).toEqual(['pdf']);
    const [again] = (await skills(join(folder, 'new', 'skills'))).list();
    expect(again?.resources).toEqual(skill.resources);
  });

  test('keeps a skill that is there, unless it is to be replaced as a whole', async () => {
    const old = await skillOf({ 'SKILL.md': `${front}Old.`, 'old.md': 'old' });
    const next = await skillOf({ 'SKILL.md': `${front}New.`, 'new.md': 'new' });
    const path = await saveSkill(old, folder);
    await expect(saveSkill(next, folder)).rejects.toThrow('exists already');
    expect(await readdir(path)).toEqual(['SKILL.md', 'old.md']);
    await saveSkill(next, folder, { replace: true });
    expect(await readdir(path)).toEqual(['SKILL.md', 'new.md']);
    expect(await readdir(folder)).toEqual(['pdf']);
  });

  test('writes nothing if a file differs from its digest, and leaves the old skill', async () => {
    await saveSkill(await skillOf({ 'SKILL.md': `${front}Old.` }), folder);
    const files = { 'SKILL.md': `${front}New.`, 'a.md': 'good', 'z.md': 'good' };
    const liar = await lyingSkill(files, { ...files, 'z.md': 'evil' });
    await expect(saveSkill(liar, folder, { replace: true })).rejects.toThrow('digest differs');
    const other = await lyingSkill(files, { ...files, 'SKILL.md': `${front}Bad.` });
    await expect(saveSkill(other, folder, { replace: true })).rejects.toThrow('digest differs');
    expect(await readdir(folder)).toEqual(['pdf']);
    expect(await readFile(join(folder, 'pdf/SKILL.md'), 'utf8')).toBe(`${front}Old.`);
  });

  test('refuses hidden files, and a path that is both a file and a folder', async () => {
    const main = { 'SKILL.md': front };
    for (const hidden of ['.git/config', '.npmrc', 'a/.husky/pre-commit'])
      await expect(saveSkill(await lyingSkill({ ...main, [hidden]: 'x' }), folder)).rejects.toThrow('hidden');
    const both = await lyingSkill({ ...main, notes: 'x', 'Notes/a.md': 'y' });
    await expect(saveSkill(both, folder)).rejects.toThrow('a file and of a folder');
    expect(await readdir(folder)).toEqual([]);
  });

  test('checks the paths of a skill that another program has made', async () => {
    const skill = await skillOf({ 'SKILL.md': front });
    for (const path of ['../escape.md', '/etc/passwd', 'a\\..\\b', 'C:evil', ''])
      await expect(saveSkill({ ...skill, paths: ['SKILL.md', path] }, folder)).rejects.toThrow('leads out');
    const frontmatter = { ...skill.frontmatter, name: '../evil' };
    await expect(saveSkill({ ...skill, frontmatter }, folder)).rejects.toThrow('front matter');
    await expect(saveSkill({ ...skill, paths: undefined }, folder)).rejects.toThrow('generates its files');
    expect(await readdir(folder)).toEqual([]);
  });

  test('does not write through a link, or in place of a file', async () => {
    const skill = await skillOf({ 'SKILL.md': front });
    await mkdir(join(folder, 'elsewhere'));
    await symlink(join(folder, 'elsewhere'), join(folder, 'pdf'));
    await expect(saveSkill(skill, folder, { replace: true })).rejects.toThrow('is not a folder');
    expect(await readdir(join(folder, 'elsewhere'))).toEqual([]);
    await rm(join(folder, 'pdf'));
    await writeFile(join(folder, 'pdf'), 'mine');
    await expect(saveSkill(skill, folder, { replace: true })).rejects.toThrow('is not a folder');
    expect(await readFile(join(folder, 'pdf'), 'utf8')).toBe('mine');
  });

  test('leaves one whole skill if several are saved at the same time', async () => {
    const versions = await Promise.all(
      ['1', '2', '3', '4'].map((n) => skillOf({ 'SKILL.md': `${front}${n}`, 'a.md': n, 'b.md': n })),
    );
    const first = await Promise.allSettled(versions.map((skill) => saveSkill(skill, folder)));
    expect(first.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    await Promise.allSettled(versions.map((skill) => saveSkill(skill, folder, { replace: true })));
    expect(await readdir(folder)).toEqual(['pdf']);
    const read = (path: string): Promise<string> => readFile(join(folder, 'pdf', path), 'utf8');
    const version = await read('a.md');
    expect([await read('SKILL.md'), await read('b.md')]).toEqual([`${front}${version}`, version]);
  });
});
