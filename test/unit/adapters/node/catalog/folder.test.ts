import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer, inProcess, type Outcome } from 'fullmcp';
import { addCatalog, folder } from 'fullmcp/catalog';
import { testClient } from 'fullmcp/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { until } from '../../../../support/until.js';

let root = '';
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'catalog-'));
});
afterEach(() => rm(root, { recursive: true, force: true }));

// A definition is data, so that the files need no import.
const toolFile = (value: string): string =>
  `export default { kind: 'tool', options: { description: '${value}' }, run: () => '${value}' };\n`;
const write = (name: string, text: string): Promise<void> => writeFile(join(root, name), text);
const textOf = (outcome: Outcome): string => (outcome['content'] as { text: string }[])[0]?.text ?? '';

function makeServer() {
  const logs: unknown[] = [];
  const server = createServer({
    name: 'live',
    version: '1.0.0',
    changes: true,
    logger: (_level, message, detail) => void logs.push(`${message} ${String(detail)}`),
  });
  return { server, logs, call: inProcess(server) };
}

describe('a folder of modules', () => {
  it('serves what its modules export, and leaves other files alone', async () => {
    await mkdir(join(root, 'deep'));
    await write('greet.mjs', toolFile('hello'));
    await write(
      'deep/more.mjs',
      `import { name } from './_shared.mjs';
       export const other = { kind: 'tool', options: {}, run: () => name };
       export const resources = { 'a://1': { kind: 'resource', options: {}, read: () => 'one' } };
       export const prompts = { p: { kind: 'prompt', options: {}, run: () => 'p' } };
       export const helper = 1;`,
    );
    await write('deep/_shared.mjs', `export const name = 'shared';`);
    await write('README.md', '# Not a module');
    const { server, call } = makeServer();
    await addCatalog(server, await folder(root));
    expect(textOf(await call('tools/call', { name: 'greet' }))).toBe('hello');
    expect(textOf(await call('tools/call', { name: 'other' }))).toBe('shared');
    expect(await call('resources/read', { uri: 'a://1' })).toMatchObject({ contents: [{ text: 'one' }] });
    expect(await call('prompts/get', { name: 'p' })).toMatchObject({
      messages: [{ content: { text: 'p' } }],
    });
  });

  it('loads changed files again and tells clients, and keeps the last good version of a broken one', async () => {
    await write('a.mjs', toolFile('one'));
    await write('b.mjs', toolFile('b'));
    const { server, logs } = makeServer();
    await addCatalog(server, await folder(root, { watchMs: 10 }));
    await server.start();
    await using client = await testClient(server);
    let changes = 0;
    await using _ = await client.subscribe({ tools: true }, { onChange: () => void changes++ });
    const says = async (text: string): Promise<boolean> =>
      (await client.callTool('a').catch(() => ({ text: '' }))).text === text;
    await write('a.mjs', toolFile('two'));
    await until('the new version is served', () => says('two'));
    await until('clients are told', () => changes > 0);
    await write('a.mjs', 'export default {');
    await until('the mistake is logged', () => logs.some((line) => String(line).includes('a.mjs')));
    expect(await says('two')).toBe(true);
    await write('a.mjs', 'export const nothing = 1;');
    await until('the other mistake is logged', () =>
      logs.some((line) => String(line).includes('exports no definitions')),
    );
    expect(await says('two')).toBe(true);
    expect((await client.callTool('b')).text).toBe('b');
    await write('a.mjs', toolFile('three'));
    await until('the mended version is served', () => says('three'));
    await rename(join(root, 'b.mjs'), join(root, 'c.mjs'));
    await until(
      'the renamed one is served',
      async () => (await client.callTool('c').catch(() => ({ text: '' }))).text === 'b',
    );
    await expect(client.callTool('b')).rejects.toThrow('Unknown tool');
    await server.close();
  });

  it('reports a broken file, a resource without a URI and a name that two files have', async () => {
    await write('a.mjs', 'export default {');
    await write('b.mjs', `export default { kind: 'resource', options: {}, read: () => '' };`);
    await write('c.mjs', toolFile('c'));
    await mkdir(join(root, 'd'));
    await write('d/c.mjs', toolFile('c'));
    const { server, call } = makeServer();
    const error: Error = await addCatalog(server, await folder(root)).then(
      () => new Error('it did not fail'),
      (reason) => reason,
    );
    expect(error.message).toMatch(/a\.mjs/);
    expect(error.message).toMatch(/needs its URI/);
    expect(error.message).toMatch(/another file has "c"/);
    await expect(call('tools/call', { name: 'c' })).rejects.toThrow('Unknown tool');
    await expect(addCatalog(server, await folder(join(root, 'missing')))).rejects.toThrow(/ENOENT/);
    await expect(folder(root, { watchMs: 1 })).rejects.toThrow(TypeError);
  });

  it('keeps the definitions if the folder cannot be read any more', async () => {
    await write('a.mjs', toolFile('one'));
    const { server, call } = makeServer();
    const catalog = await addCatalog(server, await folder(root));
    await rm(root, { recursive: true });
    await expect(catalog.reload()).rejects.toThrow(/ENOENT/);
    expect(textOf(await call('tools/call', { name: 'a' }))).toBe('one');
  });
});
