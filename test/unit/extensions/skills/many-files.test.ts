import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer } from 'fullmcp';
import { connect } from 'fullmcp/client';
import { skills, skillsFrom, skillsOf } from 'fullmcp/skills';
import { expect, onTestFinished, test } from 'vitest';

const SKILLS = 100;
/** Beside the SKILL.md of each. */
const FILES = 99;

test('10,000 files in 100 skills are listed page by page, each skill whole', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'skills-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  for (let skill = 0; skill < SKILLS; skill++) {
    const place = join(folder, `s${skill}`);
    await mkdir(join(place, 'f'), { recursive: true });
    await writeFile(join(place, 'SKILL.md'), `---\nname: s${skill}\ndescription: Does it.\n---\nText\n`);
    for (let file = 0; file < FILES; file++)
      await writeFile(join(place, 'f', `${file}.txt`), `${skill} ${file}`);
  }
  const server = createServer({ name: 'docs', version: '1.0.0', extensions: [await skills(folder)] });
  await using client = await connect(server);
  const first = await client.request('skills/list');
  expect(first['nextCursor']).toBeTypeOf('string');
  const all = await skillsOf(client).list().all();
  expect(all).toHaveLength(SKILLS);
  expect(all.every(({ resources }) => resources.length === FILES + 1)).toBe(true);
  expect(await skillsOf(client).folder('skill://s7/f').all()).toHaveLength(FILES);
}, 120_000);

test('Clients may cache the list of skills for `ttlMs`, and for a minute by default', async () => {
  const files = { pdf: { 'SKILL.md': '---\nname: pdf\ndescription: Reads.\n---\nText\n' } };
  for (const [options, ttlMs] of [
    [{}, 60_000],
    [{ ttlMs: 1234 }, 1234],
  ] as const) {
    const extensions = [await skillsFrom(files, options)];
    await using client = await connect(createServer({ name: 'docs', version: '1.0.0', extensions }));
    expect((await client.request('skills/list'))['ttlMs']).toBe(ttlMs);
  }
});
