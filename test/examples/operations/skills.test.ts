import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'fullmcp/client';
import { expect, test } from 'vitest';
import { prepare } from '../../../examples/skills/client.js';
import { server as memory } from '../../../examples/skills/memory.js';
import { deferred, server as reports } from '../../../examples/skills/own-extension.js';
import { keep } from '../../../examples/skills/save.js';
import { server } from '../../../examples/skills/server.js';

// Runs the code that docs/skills.md and docs/extensions.md show.

test('a client lists the skills of a folder, loads one and reads a file of it', async () => {
  await using client = await connect(server);
  const [notes, triage, instructions, template] = await prepare(client);
  expect(notes).toMatch(/^release-notes: Writes the notes/);
  expect(triage).toMatch(/^triage: Sorts/);
  expect(instructions).toContain('# Release notes');
  expect(template).toContain('{version}');
});

test('a client saves a skill in a folder', async () => {
  await using client = await connect(server);
  const folder = await mkdtemp(join(tmpdir(), 'fullmcp-skills-'));
  try {
    const path = await keep(client, folder);
    expect(await readdir(path)).toEqual(['SKILL.md', 'templates']);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('skills from memory are served like those of a folder', async () => {
  await using client = await connect(memory);
  const { skills } = await client.request('skills/list');
  expect(skills).toMatchObject([{ uri: 'skill://taking-notes/SKILL.md', resources: [{}, { size: 9 }] }]);
});

test('a client with the extension gets the outcome that it adds, and turns it into a result', async () => {
  await using client = await connect(reports, { extensions: [deferred] });
  expect((await client.callTool('report')).text).toBe('All is well.');
  expect(client.server.capabilities.extensions).toEqual({ 'com.example/deferred': { maxWaitMs: 1000 } });
});

test('a client without the extension gets neither its outcome nor its methods', async () => {
  await using client = await connect(reports);
  expect((await client.callTool('report')).text).toBe('All is well.');
  await expect(client.request('deferred/collect', { ticket: 'r1' })).rejects.toMatchObject({
    code: 'missing_capability',
    data: { requiredCapabilities: { extensions: { 'com.example/deferred': {} } } },
  });
});
