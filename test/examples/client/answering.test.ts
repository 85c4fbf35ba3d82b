import { connect } from 'fullmcp/client';
import { testClient } from 'fullmcp/testing';
import { expect, test } from 'vitest';
import { cloud } from '../../../examples/asking/cloud.js';
import asking from '../../../examples/asking/server.js';
import * as answering from '../../../examples/client/answering.js';

// Runs the code that docs/answer.md shows.

const trip = {
  name: 'Ada',
  email: 'ada@example.com',
  day: '2026-08-01',
  meal: 'fish',
  seat: '1',
  extras: ['wifi'],
};
const openedUrls: string[] = [];
const willing: answering.Ui = {
  fill: async () => trip,
  agrees: async () => true,
  open: (url) => openedUrls.push(url),
};
const unwilling: answering.Ui = { ...willing, fill: async () => undefined, agrees: async () => false };
const model: answering.Model = async () => 'Bread, and how to bake it';

test('a client with all handlers answers the questions of a tool', async () => {
  expect(await answering.use(answering.handlersFor(willing, model))).toBe('Booked for Ada, bags: 1');
});

test.each([
  { over: 'in-process', revision: '2026-07-28' },
  { over: 'http', revision: '2026-07-28' },
  { over: 'http', revision: '2025-11-25' },
  { over: 'stdio', revision: '2025-11-25' },
] as const)('a client answers forms, URLs, sampling and roots over $over in $revision', async (wire) => {
  openedUrls.length = 0;
  await using client = await testClient(asking, { ...answering.handlersFor(willing, model), ...wire });
  expect((await client.callTool('book')).text).toBe('Booked for Ada, bags: 1');
  expect((await client.callTool('connect')).text).toMatch(/^Opened\. Look up /);
  expect(openedUrls).toEqual([expect.stringMatching(/^https:\/\/calendar\.example\.com\/connect\?id=/)]);
  expect((await client.callTool('title', { text: 'Long' })).text).toBe('Bread, and how to bake it');
  expect((await client.readResource('folders://open')).text).toBe('["file:///home/ada/shop"]');
});

test('a client answers forms in 2025-06-18, which has no URL elicitation: a tool that needs it fails', async () => {
  const wire = { over: 'stdio', revision: '2025-06-18' } as const;
  await using client = await testClient(asking, { ...answering.handlersFor(willing, model), ...wire });
  expect((await client.callTool('book')).text).toBe('Booked for Ada, bags: 1');
  expect(await client.callTool('connect')).toMatchObject({
    isError: true,
    text: expect.stringContaining('elicitation.url'),
  });
});

test('a client whose user refuses declines forms and URLs, and its calls that need sampling fail', async () => {
  await using client = await connect(asking, answering.handlersFor(unwilling, model));
  expect((await client.callTool('book')).text).toBe('The user does not want to book.');
  expect((await client.callTool('connect')).text).toBe('Not connected');
  await expect(client.callTool('title', { text: 'Long' })).rejects.toMatchObject({
    code: 'internal_error',
    cause: new Error('The user does not want that'),
  });
});

test("an error in a client's handler reaches a 2025 server without its message, and is reported as a problem", async () => {
  const wire = { over: 'http', revision: '2025-11-25' } as const;
  await using client = await testClient(asking, { ...answering.handlersFor(unwilling, model), ...wire });
  const problems: string[] = [];
  client.on('problem', ({ message }) => problems.push(message));
  expect((await client.callTool('title', { text: 'Long' })).text).toBe(
    'The client could not answer: Internal error',
  );
  expect(problems).toEqual(["A handler for the server's questions threw"]);
});

test('a client fills in a form field by field', async () => {
  const inputs = ['Ada', 'ada@example.com', '2026-08-01', '', 'yes', 'fish', '2', 'wifi, bike'];
  const prompts: string[] = [];
  const fill = answering.fillIn(async (line) => {
    prompts.push(line);
    return inputs[prompts.length - 1] ?? '';
  });
  expect(await answering.forms(fill)).toBe('Booked for Ada, bags: 1');
  expect(prompts[0]).toBe('Where do we send the ticket? Name on the ticket:');
  expect(prompts).toHaveLength(8);
});

test('a client answers questions by their keys', async () => {
  cloud.machines = [];
  expect(await answering.byKey()).toBe('https://vm-1.example.com');
});

test('a client without handlers fails with an error that names the missing capability', async () =>
  expect(await answering.unable()).toMatch(/elicitation/));
