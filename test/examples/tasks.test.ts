import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type InProcess, inProcess } from 'fullmcp';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { drive } from '../../examples/asking/answer.js';
import { follow, watch } from '../../examples/tasks/client.js';
import { durable } from '../../examples/tasks/durable.js';
import bank, { paid } from '../../examples/tasks/idempotent.js';
import { mail } from '../../examples/tasks/mail.js';
import server from '../../examples/tasks/server.js';

// Runs the code that docs/tasks.md shows.

const able = { capabilities: { elicitation: {}, extensions: { 'io.modelcontextprotocol/tasks': {} } } };
const call = inProcess(server, able);
const plain = inProcess(server, { capabilities: { elicitation: {} } });
const accept = (content: object) => ({ action: 'accept', content });
const letter = { text: 'Hello', to: ['ada@example.com', 'alan@example.com'] };

beforeEach(() => {
  mail.sent.clear();
  mail.calls = 0;
});

async function start(ask: InProcess, name: string, args: object): Promise<unknown> {
  const created = await ask('tools/call', { name, arguments: args });
  expect(created).toMatchObject({ resultType: 'task', status: 'working' });
  return created['taskId'];
}

function rejectQuestion(key: string): never {
  throw new Error(`Unexpected question: "${key}"`);
}

describe('a tool with optional tasks', () => {
  test('runs as a task for a client that supports tasks', async () => {
    const taskId = await start(call, 'render', { pages: 2, msPerPage: 1 });
    expect(await follow(call, taskId, rejectQuestion)).toMatchObject({
      status: 'completed',
      statusMessage: 'Page 2 (2/2)',
      result: { content: [{ text: '2 pages' }] },
    });
  });

  test('runs as a plain call for other clients', async () => {
    expect(
      await plain('tools/call', { name: 'render', arguments: { pages: 2, msPerPage: 1 } }),
    ).toMatchObject({
      resultType: 'complete',
      content: [{ text: '2 pages' }],
    });
  });

  test('can be cancelled while it runs as a task', async () => {
    const taskId = await start(call, 'render', { pages: 500 });
    await call('tasks/cancel', { taskId });
    expect(await follow(call, taskId, rejectQuestion)).toMatchObject({
      status: 'cancelled',
      statusMessage: 'The client cancelled the task',
    });
  });
});

describe('a tool with required tasks', () => {
  test('asks before it mails, and mails each address once', async () => {
    const taskId = await start(call, 'newsletter', letter);
    expect(await follow(call, taskId, () => accept({ send: true }))).toMatchObject({
      status: 'completed',
      result: { content: [{ text: 'Sent to 2' }] },
    });
    expect([...mail.sent.values()].map(({ to }) => to)).toEqual(letter.to);
    expect(mail.calls).toBe(2);
  });

  test('reports its status to a client that watches the task', async () => {
    const taskId = await start(call, 'newsletter', letter);
    const methods: string[] = [];
    const listening: InProcess = (method, params, options) =>
      call(method, params, {
        ...options,
        onNotification(notification, task) {
          methods.push(notification);
          options?.onNotification?.(notification, task);
        },
      });
    const statuses: unknown[] = [];
    const leave = new AbortController();
    const watching = watch(listening, taskId, (status) => statuses.push(status), leave.signal);
    await vi.waitFor(() => expect(methods).toContain('notifications/subscriptions/acknowledged'));
    await follow(call, taskId, () => accept({ send: false }));
    await vi.waitFor(() => expect(statuses.at(-1)).toBe('completed'));
    leave.abort();
    await watching;
  });

  test('rejects a client that does not support tasks', async () => {
    await expect(plain('tools/call', { name: 'newsletter', arguments: letter })).rejects.toMatchObject({
      code: 'missing_capability',
    });
  });
});

describe('a tool that becomes a task on demand', () => {
  const answers: Record<string, object> = {
    address: accept({ address: 'Rome' }),
    gift: accept({ gift: true }),
  };
  const result = { content: [{ text: 'A3, folded, wrapped, to Rome' }] };

  test('asks within the call, then continues as a task', async () => {
    const created = await drive(call, 'tools/call', { name: 'order' }, (key) => answers[key]);
    expect(created.resultType).toBe('task');
    const questions: string[] = [];
    const task = await follow(call, created['taskId'], (key) => {
      questions.push(key);
      return answers[key];
    });
    expect(task).toMatchObject({ status: 'completed', result });
    expect(questions).toEqual(['gift']);
  });

  test('is one plain call for a client that does not support tasks', async () => {
    expect(await drive(plain, 'tools/call', { name: 'order' }, (key) => answers[key])).toMatchObject(result);
  });
});

test('a task cannot be read or cancelled by another user', async () => {
  const as = (subject: string): InProcess =>
    inProcess(server, { ...able, caller: { subject, scopes: [], claims: {} } });
  const taskId = await start(as('ada'), 'render', { pages: 1, msPerPage: 1 });
  for (const method of ['tasks/get', 'tasks/cancel']) {
    await expect(as('eve')(method, { taskId })).rejects.toThrow(`Unknown task: ${taskId}`);
  }
  expect(await as('ada')('tasks/get', { taskId })).toMatchObject({ taskId });
});

test('a task resumes after a restart of the server, and mails each address once', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'press-'));
  try {
    const before = durable(folder);
    const taskId = await start(inProcess(before, able), 'newsletter', letter);
    await before.close();
    expect(mail.calls).toBe(0);
    const after = durable(folder);
    await after.start();
    const again = inProcess(after, able);
    expect(await follow(again, taskId, () => accept({ send: true }))).toMatchObject({
      status: 'completed',
      result: { content: [{ text: 'Sent to 2' }] },
    });
    await after.close();
    expect([...mail.sent.keys()]).toEqual(letter.to.map((to) => expect.stringMatching(`:mail ${to}$`)));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

test('a call that is sent twice with one idempotency key runs once', async () => {
  const pay = (key: string): Promise<Record<string, unknown>> =>
    inProcess(bank)('tools/call', {
      name: 'pay',
      arguments: { invoice: 7 },
      _meta: { 'fullmcp/idempotencyKey': key },
    });
  const first = await pay('a');
  expect(await pay('a')).toEqual(first);
  expect(paid).toEqual([7]);
  await pay('b');
  expect(paid).toEqual([7, 7]);
});
