import { link, mkdir, mkdtemp, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createServer } from 'fullmcp';
import { connect } from 'fullmcp/client';
import { SkillsError, skills, skillsOf } from 'fullmcp/skills';
import { afterEach, beforeEach, expect, test } from 'vitest';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'skills-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const about = { name: 'docs', version: '1.0.0' };
const main = (name: string, more = ''): string =>
  `---\nname: ${name}\ndescription: Does it.\n${more}---\nText of ${name}\n`;

async function write(path: string, content: string | Uint8Array): Promise<void> {
  await mkdir(dirname(join(folder, path)), { recursive: true });
  await writeFile(join(folder, path), content);
}

async function problemsOf(): Promise<string[]> {
  const error = await skills(folder).catch((reason: unknown) => reason);
  if (!(error instanceof SkillsError)) throw new Error(`No SkillsError: ${String(error)}`);
  return error.problems.map(({ path, line, message }) => `${path}:${line ?? ''} ${message}`);
}

test('files are served with their digests: text, bytes, and text that is not UTF-8', async () => {
  await write('pdf/SKILL.md', main('pdf'));
  await write('pdf/assets/logo.png', Uint8Array.of(137, 80, 78, 71, 0, 255));
  await write('pdf/latin1.txt', Uint8Array.of(0xe9, 0x74, 0xe9));
  await write('pdf/ä & b.md', 'ü');
  await write('pdf/.git/config', 'hidden');
  await write('README.md', 'outside of a skill');
  await using client = await connect(createServer({ ...about, extensions: [await skills(folder)] }));
  const [skill] = await skillsOf(client).list().all();
  expect(skill?.paths).toEqual(['SKILL.md', 'assets/logo.png', 'latin1.txt', 'ä & b.md']);
  expect(await skill?.load()).toContain('Text of pdf');
  expect(await skill?.read('assets/logo.png')).toMatchObject({ mimeType: 'image/png', text: undefined });
  expect((await skill?.read('latin1.txt'))?.bytes).toEqual(Uint8Array.of(0xe9, 0x74, 0xe9));
  expect((await skill?.read('ä & b.md'))?.text).toBe('ü');
  expect((await client.resources().all()).map(({ uri, name }) => ({ uri, name }))).toEqual([
    { uri: 'skill://pdf/SKILL.md', name: 'pdf' },
  ]);
});

test('no URI leads out of the folder, or to a file that is not listed', async () => {
  await write('pdf/SKILL.md', main('pdf'));
  await write('pdf/.secret', 'hidden');
  await write('secret.txt', 'outside');
  await using client = await connect(createServer({ ...about, extensions: [await skills(folder)] }));
  const tries = ['pdf/../secret.txt', 'pdf/%2e%2e/secret.txt', '../secret.txt', 'secret.txt', 'pdf/.secret'];
  const odd = [
    'PDF/SKILL.md',
    'pdf/skill.md',
    'pdf/SKILL.md%00',
    'pdf//SKILL.md',
    'pdf%2FSKILL.md',
    'pdf/SKILL.md?x',
    '/etc/passwd',
  ];
  for (const path of [...tries, ...odd])
    await expect(client.readResource(`skill://${path}`), path).rejects.toMatchObject({
      code: 'resource_not_found',
    });
});

test('links, in a skill or to one, are reported instead of followed', async () => {
  await write('pdf/SKILL.md', main('pdf'));
  await symlink('/etc/passwd', join(folder, 'pdf/passwd'));
  await symlink('/etc', join(folder, 'etc'));
  expect(await problemsOf()).toEqual([
    expect.stringMatching(/^etc: .*link/),
    expect.stringMatching(/^pdf\/passwd: .*[Ll]inks/),
  ]);
});

test('a hard link is a file like any other', async () => {
  await write('pdf/SKILL.md', main('pdf'));
  await link(join(folder, 'pdf/SKILL.md'), join(folder, 'pdf/copy.md'));
  expect((await skills(folder)).list()).toHaveLength(1);
});

test('all mistakes are reported at once, with their file and line', async () => {
  await write('a/SKILL.md', main('b'));
  await write('c/SKILL.md', '---\nname: c\ndescription: &x y\n---\n');
  await write('d/SKILL.md', 'no front matter');
  await write('e/SKILL.md', '---\nname: e\n---\n');
  await write('f/SKILL.md', main('f'));
  await write('f/x.md', '1');
  await write('f/X.md', '2');
  await write('g/SKILL.md', Uint8Array.of(0xff, 0xfe));
  expect(await problemsOf()).toEqual([
    expect.stringMatching(/^a\/SKILL.md:1 The name "b" differs/),
    expect.stringMatching(/^c\/SKILL.md:3 Anchors/),
    expect.stringMatching(/^d\/SKILL.md:1 .*must begin/),
    expect.stringMatching(/^e\/SKILL.md:1 "description" is missing/),
    expect.stringMatching(/^f\/x.md: .*ignore case/),
    expect.stringMatching(/^g\/SKILL.md:1 .*UTF-8/),
  ]);
});

test('a file of 1 GB and a skill of 600 files are refused without being read into memory', async () => {
  await write('big/SKILL.md', main('big'));
  await write('big/data.bin', '');
  await truncate(join(folder, 'big/data.bin'), 1024 ** 3);
  await write('many/SKILL.md', main('many'));
  for (let n = 0; n < 600; n++) await write(`many/${n}.txt`, 'x');
  expect(await problemsOf()).toEqual([
    expect.stringMatching(/^big\/data.bin: The file has 1073741824 bytes/),
    expect.stringMatching(/^many: The skill has 601 files/),
  ]);
});

test('invalid skills can be left out, and a nested SKILL.md is a skill and a file of the skill around it', async () => {
  await write('bad/SKILL.md', 'nothing');
  await write('outer/SKILL.md', main('outer'));
  await write('outer/inner/SKILL.md', main('inner'));
  const extension = await skills(folder, { invalid: 'skip', prefix: 'acme' });
  expect(extension.list().map(({ uri, resources }) => [uri, resources.length])).toEqual([
    ['skill://acme/outer/SKILL.md', 2],
    ['skill://acme/outer/inner/SKILL.md', 1],
  ]);
});

test('two skills may have one name in different folders', async () => {
  await write('billing/refunds/SKILL.md', main('refunds'));
  await write('support/refunds/SKILL.md', main('refunds'));
  expect((await skills(folder)).list().map(({ uri }) => uri)).toEqual([
    'skill://billing/refunds/SKILL.md',
    'skill://support/refunds/SKILL.md',
  ]);
});

test('changes on disk are announced, and a skill that was broken stays as it was', async () => {
  await write('pdf/SKILL.md', main('pdf'));
  const extension = await skills(folder);
  const server = createServer({ ...about, changes: true, extensions: [extension], logger: () => undefined });
  await using client = await connect(server);
  const uri = 'skill://pdf/SKILL.md';
  const told = new Promise<unknown>((resolve) => {
    client.on(
      'notification',
      ({ method, params }) => method.endsWith('resources/updated') && resolve(params),
    );
  });
  await client.subscribe(uri);
  const before = await skillsOf(client).get(uri);
  await write('pdf/SKILL.md', main('pdf', 'license: MIT\n'));
  await extension.reload();
  expect(await told).toMatchObject({ uri });
  await expect(before.load()).rejects.toThrow(/cannot be used/);
  expect(await (await skillsOf(client).get(uri)).load()).toContain('license: MIT');
  await write('pdf/SKILL.md', 'broken');
  await extension.reload();
  expect(await (await skillsOf(client).get(uri)).load()).toContain('license: MIT');
  await rm(join(folder, 'pdf'), { recursive: true });
  await extension.reload();
  await expect(skillsOf(client).get(uri)).rejects.toMatchObject({ code: 'invalid_params' });
});

test('a watched folder is read again while the server runs', async () => {
  await write('pdf/SKILL.md', main('pdf'));
  const server = createServer({
    ...about,
    changes: true,
    extensions: [await skills(folder, { watchMs: 10 })],
  });
  await using _ = server;
  await using client = await connect(server);
  const told = new Promise<void>((resolve) => {
    client.on('notification', ({ method }) => method.endsWith('list_changed') && resolve());
  });
  await client.subscribe({ resources: true });
  await write('new/SKILL.md', main('new'));
  await told;
  expect((await skillsOf(client).list().all()).map(({ name }) => name)).toContain('new');
});

test('a folder that does not exist is named', async () => {
  await expect(skills(join(folder, 'nowhere'))).rejects.toThrow(
    /nowhere cannot be read: there is no such folder\.$/,
  );
});
