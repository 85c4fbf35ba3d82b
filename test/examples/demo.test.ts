import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { build, type Program, run } from '../support/examples/program.js';
import { ask, callTool, listToolsIn2025, modern, post } from '../support/examples/wire.js';

beforeAll(build, 120_000);

const tools = [
  'add',
  'countdown',
  'order_pizza',
  'bake_bread',
  'roll_dice',
  'paint',
  'find_order',
  'place_order',
  'add_note',
];
const capabilities = { elicitation: {}, extensions: { 'io.modelcontextprotocol/tasks': {} } };
const _meta = { 'io.modelcontextprotocol/clientCapabilities': capabilities };
const accept = (content: object) => ({ action: 'accept', content });

describe('the demo that npm start runs', () => {
  let program: Program;
  let url: string;
  let welcome: string;

  beforeAll(async () => {
    program = run('demo/main.js', [], { PORT: '0' });
    const lines: string[] = [];
    do lines.push((await program.line()) ?? 'Ctrl+C');
    while (!lines.at(-1)?.includes('Ctrl+C'));
    welcome = lines.join('\n');
    url = /http:\S+/.exec(welcome)?.[0] ?? '';
  });

  afterAll(() => program[Symbol.asyncDispose]());

  test('prints a welcome of less than 24 lines that has commands with the address of the server', () => {
    expect(welcome).toContain(`claude mcp add --transport http demo ${url}\n`);
    expect(welcome).toContain(`npx fullmcp list ${url}\n`);
    expect(welcome.split('\n').length).toBeLessThan(24);
  });

  test('prints the address of the inspector beside it, which opens with its token and not without', async () => {
    const [, page = ''] = /inspector:\n {2}(http:\S+)/.exec(welcome) ?? [];
    const opened = await fetch(page);
    expect([opened.status, await opened.text()]).toEqual([200, expect.stringContaining('<div id="app">')]);
    expect((await fetch(page.replace(/\?.*/, ''))).status).toBe(401);
  });

  test('prints curl commands that work as printed', async () => {
    const commands = welcome.match(/curl (?:.*\\\n)+.*/g) ?? [];
    const answers = await Promise.all(
      commands.map(async (command) => JSON.parse((await promisify(execFile)('sh', ['-c', command])).stdout)),
    );
    expect(answers).toMatchObject([
      { result: { content: [{ text: '42' }] } },
      { result: { resultType: 'task', status: 'working' } },
    ]);
  });

  test('serves clients of 2025', async () => {
    expect(await listToolsIn2025(url)).toEqual(tools);
  });

  test('counts down and reports progress', async () => {
    const answers = await ask(url, 'tools/call', {
      name: 'countdown',
      arguments: { from: 3, stepMs: 1 },
      _meta: { progressToken: 'p' },
    });
    expect(answers.slice(0, -1).map(({ params }) => params?.['message'])).toEqual([
      '3 to go',
      '2 to go',
      '1 to go',
    ]);
    expect(answers.at(-1)).toMatchObject({ result: { content: [{ text: 'Lift-off' }] } });
  });

  test('asks what to order, and asks for confirmation', async () => {
    const order = async (more: object): Promise<Record<string, unknown>> => {
      const answers = await ask(url, 'tools/call', { name: 'order_pizza', ...more, _meta });
      return answers.at(-1)?.result ?? {};
    };
    const first = await order({});
    expect(first['inputRequests']).toMatchObject({ pizza: { method: 'elicitation/create' } });
    const second = await order({
      inputResponses: { pizza: accept({ toppings: ['ham'] }) },
      requestState: first['requestState'],
    });
    const message = 'A small one with ham, in oven 1. Right?';
    expect(second['inputRequests']).toMatchObject({ sure: { params: { message } } });
    const last = { inputResponses: { sure: accept({ sure: true }) }, requestState: second['requestState'] };
    const done = { content: [{ text: 'In oven 1, ready in ten minutes' }] };
    expect(await order(last)).toMatchObject(done);
  });

  test('bakes as a task that asks a question halfway', async () => {
    const task = async (method: string, more: object): Promise<Record<string, unknown>> =>
      (await ask(url, method, { ...more, _meta })).at(-1)?.result ?? {};
    const created = await task('tools/call', { name: 'bake_bread', arguments: { stepMs: 1 } });
    expect(created).toMatchObject({ resultType: 'task', pollIntervalMs: 500 });
    const { taskId } = created;
    const state = (expected: object): Promise<void> =>
      vi.waitFor(async () => expect(await task('tasks/get', { taskId })).toMatchObject(expected));
    await state({ status: 'input_required', statusMessage: 'Resting (2/5)', inputRequests: { crust: {} } });
    await task('tasks/update', { taskId, inputResponses: { crust: accept({ crust: 'dark' }) } });
    await state({ status: 'completed', result: { content: [{ text: 'A dark bread' }] } });
  });

  test('paints, rolls dice, and fails with an error that the model can read', async () => {
    const painted = await callTool(url, 'paint', { color: '#ff8800' });
    const picture = (painted['content'] as { data: string }[])[1];
    expect(Buffer.from(picture?.data ?? '', 'base64').toString('latin1', 1, 4)).toBe('PNG');
    const { rolls, total } = (await callTool(url, 'roll_dice', { count: 3 }))['structuredContent'] as {
      rolls: number[];
      total: number;
    };
    expect([rolls.length, rolls.reduce((a, b) => a + b)]).toEqual([3, total]);
    expect(await callTool(url, 'find_order', { id: 7 })).toMatchObject({
      isError: true,
      content: [{ text: 'Order 7 does not exist. Try 1, 2 or 3.' }],
    });
    expect(await callTool(url, 'paint', { color: 'red' })).toMatchObject({ isError: true });
  });

  test('notifies a subscriber of a new note, which can then be read', async () => {
    const { body, headers } = modern('subscriptions/listen', {
      notifications: { resourceSubscriptions: ['notes://all'] },
    });
    const stream = await fetch(post(url, body, headers));
    const reader = (stream.body as ReadableStream<Uint8Array>).getReader();
    const next = async (): Promise<string> => new TextDecoder().decode((await reader.read()).value);
    expect(await next()).toContain('acknowledged');
    await callTool(url, 'add_note', { text: 'Call Ada' });
    expect(await next()).toContain('notifications/resources/updated');
    await reader.cancel();
    const [note] = await ask(url, 'resources/read', { uri: 'notes://2' });
    expect(note).toMatchObject({ result: { contents: [{ text: 'Call Ada' }] } });
    const [missing] = await ask(url, 'resources/read', { uri: 'notes://77' });
    expect(missing?.error?.message).toBe('Resource not found: notes://77');
  });

  test('completes arguments, and renders a prompt', async () => {
    const complete = async (ref: object, name: string, value: string): Promise<unknown> =>
      (await ask(url, 'completion/complete', { ref, argument: { name, value } }))[0]?.result?.['completion'];
    expect(await complete({ type: 'ref/resource', uri: 'notes://{id}' }, 'id', '1')).toMatchObject({
      values: ['1'],
    });
    expect(await complete({ type: 'ref/prompt', name: 'explain' }, 'topic', 'Be')).toMatchObject({
      values: ['beavers'],
    });
    const [prompt] = await ask(url, 'prompts/get', { name: 'explain', arguments: { topic: 'bread' } });
    expect(prompt).toMatchObject({
      result: { messages: [{ content: { text: 'Explain bread to a student.' } }, {}] },
    });
  });

  test('reports a port that is already in use', async () => {
    await using second = run('demo/main.js', [], { PORT: new URL(url).port });
    expect(await second.end()).toBe(1);
    expect(second.errors()).toMatch(/^Port \d+ is taken\. Choose another with PORT or \{ port \}\.\n$/);
  });
});

test('the demo on stdio stops a call that is cancelled, answers the next, and exits when its input ends', async () => {
  await using program = run('demo/main.js', ['--stdio']);
  const { body } = modern('tools/call', {
    name: 'countdown',
    arguments: { from: 60 },
    _meta: { progressToken: 1 },
  });
  program.send(body);
  expect(JSON.parse((await program.line()) ?? '')).toMatchObject({ method: 'notifications/progress' });
  program.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } });
  program.send(modern('tools/list', {}, 2).body);
  const response = JSON.parse((await program.line()) ?? '') as { id: number; result: { tools: object[] } };
  expect([response.id, response.result.tools.length]).toEqual([2, tools.length]);
  expect(await program.end()).toBe(0);
});
