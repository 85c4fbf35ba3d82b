import { connect } from 'fullmcp/client';
import { testClient } from 'fullmcp/testing';
import { expect, test } from 'vitest';
import { cloud } from '../../examples/asking/cloud.js';
import asking from '../../examples/asking/server.js';
import * as answering from '../../examples/client/answering.js';

// What docs/answer.md shows, run.

const trip = {
  name: 'Ada',
  email: 'ada@example.com',
  day: '2026-08-01',
  meal: 'fish',
  seat: '1',
  extras: ['wifi'],
};
const opened: string[] = [];
const willing: answering.Ui = {
  fill: async () => trip,
  agrees: async () => true,
  open: (url) => opened.push(url),
};
const unwilling: answering.Ui = { ...willing, fill: async () => undefined, agrees: async () => false };
const model: answering.Model = async () => 'Bread, and how to bake it';

test('with everything', async () => {
  expect(await answering.use(answering.handlersFor(willing, model))).toBe('Booked for Ada, bags: 1');
});

test.each([
  { over: 'in-process', revision: '2026-07-28' },
  { over: 'http', revision: '2026-07-28' },
  { over: 'http', revision: '2025-11-25' },
  { over: 'stdio', revision: '2025-11-25' },
] as const)('forms, pages, a model, folders over $over in $revision', async (wire) => {
  opened.length = 0;
  await using client = await testClient(asking, { ...answering.handlersFor(willing, model), ...wire });
  expect((await client.callTool('book')).text).toBe('Booked for Ada, bags: 1');
  expect((await client.callTool('connect')).text).toMatch(/^Opened\. Look up /);
  expect(opened).toEqual([expect.stringMatching(/^https:\/\/calendar\.example\.com\/connect\?id=/)]);
  expect((await client.callTool('title', { text: 'Long' })).text).toBe('Bread, and how to bake it');
  expect((await client.readResource('folders://open')).text).toBe('["file:///home/ada/shop"]');
});

test('forms in 2025-06-18, which knows no pages', async () => {
  const wire = { over: 'stdio', revision: '2025-06-18' } as const;
  await using client = await testClient(asking, { ...answering.handlersFor(willing, model), ...wire });
  expect((await client.callTool('book')).text).toBe('Booked for Ada, bags: 1');
  expect(await client.callTool('connect')).toMatchObject({
    isError: true,
    text: expect.stringContaining('elicitation.url'),
  });
});

test('with no', async () => {
  await using client = await connect(asking, answering.handlersFor(unwilling, model));
  expect((await client.callTool('book')).text).toBe('The user does not want to book.');
  expect((await client.callTool('connect')).text).toBe('Not connected');
  await expect(client.callTool('title', { text: 'Long' })).rejects.toMatchObject({
    code: 'internal_error',
    cause: new Error('The user does not want that'),
  });
});

test('with an error, which a server of 2025 is told without its text', async () => {
  const wire = { over: 'http', revision: '2025-11-25' } as const;
  await using client = await testClient(asking, { ...answering.handlersFor(unwilling, model), ...wire });
  const problems: string[] = [];
  client.on('problem', ({ message }) => problems.push(message));
  expect((await client.callTool('title', { text: 'Long' })).text).toBe(
    'The client could not answer: Internal error',
  );
  expect(problems).toEqual(["A handler for the server's questions threw"]);
});

test('field by field', async () => {
  const typed = ['Ada', 'ada@example.com', '2026-08-01', '', 'yes', 'fish', '2', 'wifi, bike'];
  const asked: string[] = [];
  const fill = answering.fillIn(async (line) => {
    asked.push(line);
    return typed[asked.length - 1] ?? '';
  });
  expect(await answering.forms(fill)).toBe('Booked for Ada, bags: 1');
  expect(asked[0]).toBe('Where do we send the ticket? Name on the ticket:');
  expect(asked).toHaveLength(8);
});

test('by key', async () => {
  cloud.machines = [];
  expect(await answering.byKey()).toBe('https://vm-1.example.com');
});

test('nothing', async () => expect(await answering.unable()).toMatch(/elicitation/));
