import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { createServer } from 'fullmcp';
import { fromOpenAPI } from 'fullmcp/openapi';
import { afterAll, expect, test } from 'vitest';
import { inProcessClient } from '../support/in-process-client.js';
import { differences } from './support/decode.js';
import { credentials, type Expectation, generateDocument } from './support/generate.js';
import { Random } from './support/random.js';

// A server whose expectations are made from the document, and not by the code that makes the requests.

const OPERATIONS = 2500;
const SEED = Number(process.env['OPENAPI_SEED'] ?? 20260728);
let expectations: readonly Expectation[] = [];

const upstream = createHttpServer(async (request, response) => {
  const id = Number(/^\/v1\/op(\d+)/.exec(request.url ?? '')?.[1]);
  const expectation = expectations[id];
  const bytes = await buffer(request);
  request.url = request.url?.replace('/v1', '') ?? '';
  const wrong =
    expectation === undefined
      ? ['an unknown route']
      : await differences(expectation, request, bytes).catch((error) => [String(error)]);
  const all = request.method?.toLowerCase() === expectation?.method ? wrong : [...wrong, 'another method'];
  response.writeHead(all.length === 0 ? 200 : 422, { 'content-type': 'application/json' });
  response.end(JSON.stringify(all.length === 0 ? { id } : { message: `${request.url} ${all.join('; ')}` }));
});
await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
afterAll(() => void upstream.close());
const baseUrl = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}/v1`;

test('requests of 2,500 generated operations arrive as the document says, in every style', {
  timeout: 600_000,
}, async () => {
  const generated = generateDocument(new Random(SEED), OPERATIONS);
  expectations = generated.expectations;
  const api = await fromOpenAPI(generated.document, { baseUrl, credentials });
  await using server = createServer({ ...api, logger: () => undefined });
  await using client = await inProcessClient(server);
  const tools = await client.tools().all();
  expect(tools).toHaveLength(OPERATIONS);
  const seen = new Set<string>();
  const failures: string[] = [];
  await inTurns(expectations, 16, async (expectation) => {
    const { id, method, path, parameters, body } = expectation;
    const tool =
      tools.find(({ name }) => name === `op${id}`) ??
      tools.find(({ name }) => name.startsWith(`${method}_op${id}_`));
    if (tool === undefined) return void failures.push(`${id}: no tool for ${method} ${path}`);
    const properties = tool.inputSchema['properties'] as Record<string, { description?: string }>;
    const keyOf = (description: string): string =>
      Object.keys(properties).find((key) => properties[key]?.description === description) ??
      `missing ${description}`;
    for (const key of Object.keys(properties))
      if (!/^[a-zA-Z0-9_.-]{1,64}$/.test(key)) failures.push(`${id}: the name ${key}`);
    const entries: [string, unknown][] = parameters.map(({ place, name, value }) => [
      keyOf(`${place} ${name}`),
      value,
    ]);
    for (const { place, style, explode, shape, isContent } of parameters)
      seen.add(isContent ? `${place} content` : `${place} ${style} ${explode} ${shape}`);
    if (body !== undefined) {
      seen.add(`body ${body.form}`);
      const isFlat = ['json', 'form', 'multipart'].includes(body.form);
      if (isFlat)
        for (const [name, value] of Object.entries(body.value as object))
          entries.push([name === 'file' ? fileKey(properties) : keyOf(`field ${name}`), value]);
      else entries.push([parameters.some(({ name }) => name === 'body') ? 'body_body' : 'body', body.value]);
    }
    const result = await client.callTool(tool.name, Object.fromEntries(entries));
    if (result.isError || (result.data as { id?: number } | undefined)?.id !== id)
      failures.push(`${id}: ${JSON.stringify(result.content)}`);
  });
  expect(failures.slice(0, 10)).toEqual([]);
  for (const place of [
    'path simple',
    'path label',
    'path matrix',
    'query form',
    'header simple',
    'cookie form',
  ])
    for (const explode of [true, false])
      for (const shape of ['text', 'list', 'object']) expect(seen).toContain(`${place} ${explode} ${shape}`);
  for (const rest of [
    'query spaceDelimited false list',
    'query pipeDelimited false list',
    'query deepObject true object',
    'query content',
    'header content',
    'cookie content',
  ])
    expect(seen).toContain(rest);
  for (const form of ['json', 'json-nested', 'form', 'multipart', 'text', 'bytes'])
    expect(seen).toContain(`body ${form}`);
});

function fileKey(properties: Record<string, { description?: string }>): string {
  return (
    Object.keys(properties).find((key) => properties[key]?.description === 'field file') ?? 'missing file'
  );
}

async function inTurns<T>(
  items: readonly T[],
  width: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const queue = items.values();
  await Promise.all(
    Array.from({ length: width }, async () => {
      for (const item of queue) await work(item);
    }),
  );
}
