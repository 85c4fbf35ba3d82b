import { createServer } from 'fullmcp';
import { serve } from 'fullmcp/node';
import { fromOpenAPI } from 'fullmcp/openapi';
import { expect, test } from 'vitest';
import { ClientV1, HttpV1 } from '../interop/support/peers.js';
import { largeDocument } from './support/large-document.js';
import { clientOf, documentOf } from './support/served.js';

const large = largeDocument({ operations: 600, components: 300 });

/** The characters of the output schemas of a document's tools, by name; 0 if a tool has none. */
async function outputChars(document: unknown, output?: 'check'): Promise<Record<string, number>> {
  await using client = await clientOf(document, output === undefined ? {} : { output });
  const tools = await client.tools().all();
  return Object.fromEntries(
    tools.map(({ name, outputSchema }) => [
      name,
      outputSchema === undefined ? 0 : JSON.stringify(outputSchema).length,
    ]),
  );
}

function sum(values: Record<string, number>): number {
  return Object.values(values).reduce((total, value) => total + value, 0);
}

test('the output schemas of a large document are left out unless they are small, so that clients can list its tools', async () => {
  const chars = await outputChars(large);
  expect(Object.keys(chars)).toHaveLength(600);
  expect(Object.values(chars).filter((size) => size > 0)).toHaveLength(60);
  expect(Math.max(...Object.values(chars))).toBeLessThanOrEqual(4096);
  const checked = await outputChars(largeDocument({ operations: 30, components: 100 }), 'check');
  expect(Object.values(checked).every((size) => size > 0)).toBe(true);
  expect(sum(checked)).toBeGreaterThan(200_000);
});

test('the output schemas of all tools together have a limit, and their order in the document has no effect', async () => {
  const object = (fields: number): object => ({
    type: 'object',
    properties: Object.fromEntries(
      Array.from({ length: fields }, (_, at) => [`field${at}`, { type: 'string' }]),
    ),
  });
  const paths = Array.from({ length: 400 }, (_, at): [string, object] => [
    `/p${at}`,
    {
      get: {
        operationId: `p${at}`,
        responses: {
          200: {
            description: '',
            content: { 'application/json': { schema: object(at % 4 === 0 ? 100 : 1) } },
          },
        },
      },
    },
  ]);
  const chars = await outputChars(documentOf(Object.fromEntries(paths)));
  expect(sum(chars)).toBeLessThanOrEqual(200_000);
  // 100 schemas of about 3,000 characters are too many, so that the small ones are left.
  expect(Object.values(chars).filter((size) => size > 0)).toHaveLength(300);
  const reversed = await outputChars(documentOf(Object.fromEntries(paths.reverse())));
  expect(reversed).toEqual(chars);
  // A tenth of the document is below the limit as a whole, and keeps all of its schemas.
  const few = await outputChars(documentOf(Object.fromEntries(paths.slice(0, 40))));
  expect(Object.values(few).every((size) => size > 0)).toBe(true);
});

test('the official client of version 1 lists all pages of a server from a large document', async () => {
  const api = await fromOpenAPI(large, { baseUrl: 'https://api.example.com' });
  await using serving = await serve(createServer(api), { port: 0, signals: false });
  const client = new ClientV1({ name: 'test', version: '1' });
  await client.connect(new HttpV1(new URL(serving.url)) as never);
  const names: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await client.listTools(cursor === undefined ? undefined : { cursor });
    names.push(...page.tools.map(({ name }) => name));
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  expect(new Set(names).size).toBe(600);
  await client.close();
});

test('a connection stays open for as long as a client may be busy between two pages', async () => {
  const server = createServer({ name: 'test', version: '1' });
  await using serving = await serve(server, { port: 0, signals: false });
  const reply = await fetch(new URL('/ready', serving.url));
  expect(reply.headers.get('keep-alive')).toBe('timeout=75');
  await reply.body?.cancel();
});
