import { fromOpenAPI } from 'fullmcp/openapi';
import { expect, test, vi } from 'vitest';

vi.mock('yaml', () => {
  throw new Error("Cannot find package 'yaml'");
});

test('a document in YAML needs the package yaml, and one in JSON does not', async () => {
  await expect(fromOpenAPI('openapi: 3.1.0')).rejects.toThrow(/npm install yaml/);
  const { tools } = await fromOpenAPI('{"openapi":"3.1.0","paths":{}}');
  expect(tools).toEqual({});
});
