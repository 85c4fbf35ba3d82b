import { createServer, tool } from 'fullmcp';
import { connect } from 'fullmcp/client';
import { extension } from 'fullmcp/extension';
import { expect, test } from 'vitest';

const about = { name: 'extended', version: '1.0.0' };

test('mistakes in an extension are listed in one error', () => {
  const wrong = { id: 'search', outcomes: ['task'], use: [1], setting: {} } as never;
  expect(() => extension(wrong)).toThrow(
    /"setting" is unknown[\s\S]*"id" must be[\s\S]*protocol[\s\S]*"use"/,
  );
});

test('a promise in place of an extension is reported, with the advice to await it', () => {
  const extensions = [Promise.resolve(extension({ id: 'com.example/a' }))] as never;
  expect(() => createServer({ ...about, extensions })).toThrow(/extensions\[0\].*await/);
});

test('an extension given twice, or with a name that the server has, is reported', () => {
  const one = extension({ id: 'com.example/a', tools: { add: tool({ run: () => 1 }) } });
  expect(() => createServer({ ...about, extensions: [one, one] })).toThrow(/given twice/);
  expect(() => createServer({ ...about, tools: { add: tool({ run: () => 2 }) }, extensions: [one] })).toThrow(
    /"add" of "tools" is also defined by the extension "com.example\/a"/,
  );
});

test('an object of settings still only declares extensions, and an empty array declares none', async () => {
  const tools = { add: tool({ run: () => 1 }) };
  await using declared = await connect(
    createServer({ ...about, tools, extensions: { 'com.example/a': { x: 1 } } }),
  );
  expect(declared.server.capabilities.extensions).toEqual({ 'com.example/a': { x: 1 } });
  await using none = await connect(createServer({ ...about, tools, extensions: [] }));
  expect(none.server.capabilities.extensions).toBeUndefined();
});

test('an outcome of an extension never reaches a client that does not declare it, whatever middleware does', async () => {
  const leaky = extension({
    id: 'com.example/a',
    outcomes: ['example_later'],
    use: [async () => ({ resultType: 'example_later' })],
  });
  const server = createServer({ ...about, tools: { add: tool({ run: () => 1 }) }, extensions: [leaky] });
  await using plain = await connect(server).catch((error: unknown) => {
    expect(error).toMatchObject({ code: 'missing_capability' });
    return { [Symbol.asyncDispose]: async () => undefined };
  });
  expect('callTool' in plain).toBe(false);
});

test('definitions of an extension are served, and can change while the server runs', async () => {
  let change = (): void => undefined;
  const server = createServer({
    ...about,
    extensions: [
      extension({
        id: 'com.example/a',
        tools: { one: tool({ run: () => 1 }) },
        attach(host) {
          change = () => void host.define('tool', 'two', tool({ run: () => 2 }));
        },
      }),
    ],
  });
  await using client = await connect(server);
  expect((await client.tools().all()).map(({ name }) => name)).toEqual(['one']);
  change();
  expect((await client.tools().all()).map(({ name }) => name)).toEqual(['one', 'two']);
});

test('extensions of a client that are not an array of objects with an id are reported', async () => {
  const server = createServer({ ...about, tools: { add: tool({ run: () => 1 }) } });
  await expect(connect(server, { extensions: { 'com.example/a': {} } as never })).rejects.toThrow(
    /"extensions" must be/,
  );
  await expect(connect(server, { extensions: [{ name: 'x' }] as never })).rejects.toThrow(
    /"extensions" must be/,
  );
});
