import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { type Client, connect } from 'fullmcp/client';
import { describe, expect, test } from 'vitest';
import { freePort } from '../support/free-port.js';
import { run, startHttp } from '../support/processes.js';

// The programs of the migration pages, before and after the migration: they get the same requests and must answer alike.

const root = fileURLToPath(new URL('../..', import.meta.url));
const oldProgram = (file: string): string => `${root}examples/migration/${file}.js`;
const newProgram = (file: string): string => `${root}build/examples/migration/fullmcp/${file}.js`;
const servers = ['sdk-v1', 'sdk-v2', 'fastmcp'];
const progressLines = ['1/2', '2/2'];

describe('the servers before and after a migration', { timeout: 60_000 }, () => {
  test.each(servers)('answer alike on stdio: %s', async (name) => {
    const old = await interview(oldProgram(`${name}/stdio`), '2025-11-25');
    expect(old).toEqual(await interview(newProgram('stdio'), '2025-11-25'));
  });

  test('answer alike to a client of 2026-07-28, for SDK v2', async () => {
    const old = await interview(oldProgram('sdk-v2/stdio'), '2026-07-28');
    expect(old).toEqual(await interview(newProgram('stdio'), '2026-07-28'));
  });

  test('list, complete and announce the resources of a template alike, and link to them, for SDK v2', async () => {
    const old = await interviewNotes(oldProgram('sdk-v2/notes'));
    expect(old).toEqual(await interviewNotes(newProgram('notes')));
    expect(old).toMatchObject({ completed: ['1'], linked: [{ type: 'resource_link', uri: 'note://3' }] });
  });

  test.each(servers)('identify the caller by a token over HTTP, and reject others: %s', async (name) => {
    const old = await startHttp(oldProgram(`${name}/http`), String(await freePort()));
    const ours = await startHttp(newProgram('http'));
    try {
      expect(await callers(old.url)).toEqual(['ada', 'unauthorized']);
      expect(await callers(ours.url)).toEqual(['ada', 'unauthorized']);
    } finally {
      await Promise.all([old.stop(), ours.stop()]);
    }
  });
});

describe('the clients before and after a migration', { timeout: 60_000 }, () => {
  test.each(['sdk-v1', 'sdk-v2'])('print the same lines: %s', async (name) => {
    const [old, ours] = [await linesOf(oldProgram(`${name}/client`)), await linesOf(newProgram('client'))];
    // The SDK forgets the callback when the response comes, but calls it a turn after a notification: it loses the
    // progress that it reads together with the response.
    const lost = progressLines.filter((line) => !old.includes(line));
    expect(old).toEqual(ours.filter((line) => !lost.includes(line)));
    expect(old).toContain('Booked 2 seats');
    expect(ours).toEqual(expect.arrayContaining(progressLines));
  });
});

/** Everything that a client sees of the template of a server: its list, its completion, its changes and links to it. */
async function interviewNotes(script: string): Promise<object> {
  await using client = await connect(
    { command: process.execPath, args: [script] },
    { revision: '2025-11-25' },
  );
  await using changes = await client.subscribe({ resources: true });
  const names = async (): Promise<unknown[]> =>
    (await client.resources().all()).map(({ uri, name, mimeType }) => ({ uri, name, mimeType }));
  const before = await names();
  const { values } = await client.complete({ template: 'note://{id}', argument: 'id', value: '1' });
  const { content } = await client.callTool('add_note', { text: 'Sleep' });
  const [change] = await firstOf(changes);
  const { contents } = await client.readResource('note://3');
  return { before, completed: values, linked: content, change, after: await names(), contents };
}

async function firstOf<T>(items: AsyncIterable<T>): Promise<T[]> {
  for await (const item of items) return [item];
  return [];
}

/** Everything that a client sees of a server, in a comparable form. */
async function interview(script: string, revision: '2025-11-25' | '2026-07-28'): Promise<unknown> {
  const events: unknown[] = [];
  await using client = await connect(
    { command: process.execPath, args: [script] },
    {
      revision,
      elicit: ({ message, schema }) => {
        events.push(message, Object.keys(schema['properties'] as object));
        return { action: 'accept', content: { seats: 2 } };
      },
      sample: ({ messages, maxTokens }) => {
        events.push(messages, maxTokens);
        return { role: 'assistant', model: 'small-1', content: { type: 'text', text: 'Short.' } };
      },
      // FastMCP wraps the text of a log message in an object.
      onLog: ({ level, data }) => events.push(level, (data as { message?: string }).message ?? data),
      progress: ({ progress, total }) => events.push(`${progress}/${total}`),
    },
  );
  return { ...(await readLists(client)), ...(await useAll(client)), events };
}

async function readLists(client: Client): Promise<object> {
  const byName = (a: { name: string }, b: { name: string }): number => (a.name < b.name ? -1 : 1);
  const tools = await client.tools().all();
  const resources = await client.resources().all();
  const templates = await client.templates().all();
  const prompts = await client.prompts().all();
  return {
    tools: tools
      .map(({ name, description = '', inputSchema, outputSchema }) => ({
        name,
        description,
        input: Object.keys((inputSchema['properties'] as object | undefined) ?? {}),
        required: inputSchema['required'] ?? [],
        output: Object.keys((outputSchema?.['properties'] as object | undefined) ?? {}),
      }))
      .sort(byName),
    resources: resources.map(({ uri, name }) => ({ uri, name })),
    templates: templates.map(({ uriTemplate, name }) => ({ uriTemplate, name })),
    prompts: prompts.map(({ name, description, arguments: args = [] }) => ({
      name,
      description,
      args: args.map(({ name: arg, required }) => ({ arg, required })),
    })),
  };
}

async function useAll(client: Client): Promise<object> {
  const call = async (name: string, args?: object): Promise<object> => {
    const { content, data, isError } = await client.callTool(name, args);
    // The client reads a number from the text of a fullmcp server, which declares it.
    return { content, data: typeof data === 'object' ? data : undefined, isError };
  };
  const isRejected = await client.callTool('add', { a: 1, b: 'x' }).then(
    ({ isError }) => isError,
    () => true, // FastMCP answers with a protocol error.
  );
  return {
    add: await call('add', { a: 2, b: 40 }),
    found: await call('find_order', { id: 1 }),
    missing: await call('find_order', { id: 9 }),
    isRejected,
    imported: await call('import_orders', { count: 3 }),
    booked: await call('book'),
    summarized: await call('summarize', { text: 'Long.' }),
    nobody: await call('who_am_i'),
    config: (await client.readResource('config://app')).text,
    // FastMCP adds a name to the contents.
    order: (await client.readResource('orders://1')).contents.map(({ uri, mimeType }) => ({ uri, mimeType })),
    review: (await client.getPrompt('review', { code: 'a = 1' })).messages,
  };
}

/** The caller that a server sees for a valid token, and the error for an invalid one. */
async function callers(url: string): Promise<unknown[]> {
  await using client = await connect(url, { auth: 'secret-of-ada' });
  const { text } = await client.callTool('who_am_i');
  const error = await connect(url, { auth: 'made-up' }).then(
    () => 'connected',
    (reason: { code?: unknown }) => reason.code,
  );
  return [text, error];
}

/** The lines that a client prints about the server after the migration. */
async function linesOf(script: string): Promise<string[]> {
  const { code, stdout, stderr } = await run(process.execPath, [script, newProgram('stdio')], process.env);
  // The sampling that the examples migrate is deprecated, which the server says once.
  const others = stderr.split('\n').filter((line) => line !== '' && !line.includes('deprecates ctx.sample'));
  expect({ code, others }).toEqual({ code: 0, others: [] });
  return stdout.split('\n');
}
