import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { testClient } from 'fullmcp/testing';
import { expect, test } from 'vitest';
import { until } from '../../support/until.js';

type Example = typeof import('../../../examples/catalog/server.js');

// Runs the code that docs/catalog.md shows, as it was built: Node 20 does not run the TypeScript files of the folder.

test('the catalogs of the guide serve a folder and a database', async () => {
  const { server, database, addComponents, addPrompts }: Example = await import(
    /* @vite-ignore */ pathToFileURL(resolve('build/examples/catalog/server.js')).href
  );
  await addComponents();
  await addPrompts();
  await using client = await testClient(server);
  expect((await client.callTool('greet', { name: 'Ada' })).text).toBe('Hello, Ada');
  const names = async (): Promise<string[]> => (await client.prompts().all()).map(({ name }) => name);
  expect(await names()).toEqual(['summarize']);
  database.rows.push({ name: 'translate', text: 'Translate this' });
  database.emit('change');
  await until('the new prompt is listed', async () => (await names()).includes('translate'));
  await server.close();
});
