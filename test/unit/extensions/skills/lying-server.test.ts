import { createHash } from 'node:crypto';
import { createServer, resource } from 'fullmcp';
import { connect } from 'fullmcp/client';
import { skillsFrom, skillsOf } from 'fullmcp/skills';
import { expect, test } from 'vitest';

// Servers whose skills contradict themselves, or the rules of the extension.

const text = '---\nname: pdf\ndescription: Reads.\n---\nText\n';
const uri = 'skill://pdf/SKILL.md';
const frontmatter = { name: 'pdf', description: 'Reads.' };
const digest = (content: string): string => `sha256:${createHash('sha256').update(content).digest('hex')}`;
const fileOf = (path: string, content = text): object => ({
  uri: path,
  digest: digest(content),
  size: content.length,
});
const honest = { uri, frontmatter, resources: [fileOf(uri)] };

async function against(entry: object, contents: unknown = text) {
  const server = createServer({
    name: 'liar',
    version: '1.0.0',
    extensions: { 'io.modelcontextprotocol/skills': {} },
    resources: { 'skill://{+path}': resource({ read: () => contents }) },
    methods: {
      'skills/list': { run: () => ({ skills: [entry, 7] }) },
      'skills/get': { run: () => ({ skill: entry }) },
    },
  });
  return skillsOf(await connect(server));
}

test('an honest skill loads', async () => {
  const [skill] = await (await against(honest)).list().all();
  expect(await skill?.load()).toBe(text);
});

test.each([
  ['has no resources', { uri, frontmatter }],
  ['has resources of another kind', { ...honest, resources: 'static' }],
  ['has a name that is not in its URI', { ...honest, frontmatter: { ...frontmatter, name: 'pdf2' } }],
  ['has a URI that is not that of a SKILL.md', { ...honest, uri: 'skill://pdf/skill.md' }],
  ['does not list SKILL.md', { ...honest, resources: [fileOf('skill://pdf/a.md')] }],
  ['lists a file of another skill', { ...honest, resources: [fileOf(uri), fileOf('skill://other/a.md')] }],
  ['leads out with dots', { ...honest, resources: [fileOf(uri), fileOf('skill://pdf/../x.md')] }],
  ['leads out with encoded dots', { ...honest, resources: [fileOf(uri), fileOf('skill://pdf/%2e%2e/x.md')] }],
  [
    'leads out with an encoded slash',
    { ...honest, resources: [fileOf(uri), fileOf('skill://pdf/..%2fx.md')] },
  ],
  ['leads out with a backslash', { ...honest, resources: [fileOf(uri), fileOf('skill://pdf/..%5cx.md')] }],
  ['has a NUL in a name', { ...honest, resources: [fileOf(uri), fileOf('skill://pdf/x.md%00.png')] }],
  ['names a device', { ...honest, resources: [fileOf(uri), fileOf('skill://pdf/NUL.txt')] }],
  ['lists a file twice', { ...honest, resources: [fileOf(uri), fileOf(uri)] }],
  [
    'lists two files that differ only in case',
    { ...honest, resources: [fileOf(uri), fileOf('skill://pdf/skill.MD')] },
  ],
  ['has a short digest', { ...honest, resources: [{ ...fileOf(uri), digest: 'sha256:00' }] }],
  ['has a negative size', { ...honest, resources: [{ ...fileOf(uri), size: -1 }] }],
  ['is too large', { ...honest, resources: [{ ...fileOf(uri), size: 2 ** 24 + 1 }] }],
  [
    'has too many files',
    { ...honest, resources: Array.from({ length: 513 }, (_, n) => fileOf(`skill://pdf/${n}`)) },
  ],
])('an entry that %s is neither listed nor got', async (_, entry) => {
  const skills = await against(entry);
  expect(await skills.list().all()).toEqual([]);
  await expect(skills.get(uri)).rejects.toMatchObject({ code: 'bad_response' });
});

test.each([
  ['other bytes of the same length', text.replace('Text', 'Evil')],
  ['more bytes', `${text}more`],
  ['another file', { contents: [{ uri: 'skill://pdf/other.md', text }] }],
  [
    'two files',
    {
      contents: [
        { uri, text },
        { uri, text },
      ],
    },
  ],
])('a skill is not loaded if the server sends %s', async (_, contents) => {
  await expect((await (await against(honest, contents)).get(uri)).load()).rejects.toMatchObject({
    code: 'bad_response',
  });
});

test('a skill is not loaded if its front matter differs from the entry, even if it is generated', async () => {
  const entry = { uri, frontmatter: { ...frontmatter, 'allowed-tools': 'Bash' }, resources: 'dynamic' };
  await expect((await (await against(entry)).get(uri)).load()).rejects.toThrow(/front matter differs/);
});

test('a generated skill is read only up to the limit of a skill', async () => {
  const skill = await (await against({ uri, frontmatter, resources: 'dynamic' }, 'x'.repeat(9_000_000))).get(
    uri,
  );
  await skill.read('one.txt');
  await expect(skill.read('two.txt')).rejects.toThrow(/more than 16777216 bytes/);
});

test('a file that the entry does not list is not read, whatever the server would send', async () => {
  const skill = await (await against(honest)).get(uri);
  for (const path of ['other.md', '../x', '', 'a/../SKILL.md'])
    await expect(skill.read(path), path).rejects.toMatchObject({ code: 'invalid_params' });
});

test('a server that answers with the entry of another skill, or declares none, is refused', async () => {
  await expect((await against(honest)).get('skill://x/pdf/SKILL.md')).rejects.toThrow(/another skill/);
  const plain = await connect(createServer({ name: 'plain', version: '1.0.0' }));
  expect(skillsOf(plain).isSupported()).toBe(false);
  await expect(skillsOf(plain).list().all()).rejects.toMatchObject({ code: 'method_not_found' });
  await expect((await against(honest)).folder('skill://pdf').all()).rejects.toMatchObject({
    code: 'method_not_found',
  });
});

test('a caller without the scope of a skill sees neither its entry, its files nor its folder', async () => {
  const skills = await skillsFrom(
    { pdf: { 'SKILL.md': text, 'a/b.md': 'x' }, open: { 'SKILL.md': text.replace('pdf', 'open') } },
    { rules: ({ frontmatter: { name } }) => (name === 'pdf' ? { scopes: ['pdf'] } : {}) },
  );
  const server = createServer({ name: 'rules', version: '1.0.0', extensions: [skills] });
  const stranger = await connect(server, { caller: { subject: 'eve' } });
  expect((await skillsOf(stranger).list().all()).map(({ name }) => name)).toEqual(['open']);
  await expect(skillsOf(stranger).get(uri)).rejects.toMatchObject({ code: 'invalid_params' });
  await expect(stranger.readResource('skill://pdf/a/b.md')).rejects.toMatchObject({
    code: 'resource_not_found',
  });
  await expect(skillsOf(stranger).folder('skill://pdf/a').all()).rejects.toMatchObject({
    code: 'invalid_params',
  });
  const reader = await connect(server, { caller: { subject: 'ada', scopes: ['pdf'] } });
  expect((await (await skillsOf(reader).get(uri)).read('a/b.md')).text).toBe('x');
});

test('folders are listed with their subfolders, and a file is not a folder', async () => {
  const skills = await skillsFrom({ 'acme/pdf': { 'SKILL.md': text, 'a/b.md': 'x' } });
  const client = await connect(createServer({ name: 'folders', version: '1.0.0', extensions: [skills] }));
  const all = await skillsOf(client).folder('skill://acme/pdf').all();
  expect(all.map(({ uri, mimeType }) => [uri, mimeType])).toEqual([
    ['skill://acme/pdf/SKILL.md', 'text/markdown'],
    ['skill://acme/pdf/a', 'inode/directory'],
  ]);
  for (const wrong of ['skill://acme/pdf/SKILL.md', 'skill://acme/pdf/', 'skill://acme/no', 'skill://'])
    await expect(skillsOf(client).folder(wrong).all()).rejects.toMatchObject({ code: 'invalid_params' });
});
