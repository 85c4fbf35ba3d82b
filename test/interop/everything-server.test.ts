import process from 'node:process';
import { gunzipSync } from 'node:zlib';
import type { Client } from 'fullmcp/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { soon, until } from '../support/until.js';
import { open, rows, type Scene, script } from './support/everything.js';
import { processesWith, untilNothingOpen } from './support/observed-server.js';

// Our client against the published reference server with every feature, on its three transports.

const tools = [
  'echo',
  'get-annotated-message',
  'get-env',
  'get-resource-links',
  'get-resource-reference',
  'get-structured-content',
  'get-sum',
  'get-tiny-image',
  'gzip-file-as-resource',
  'toggle-simulated-logging',
  'toggle-subscriber-updates',
  'trigger-long-running-operation',
  'get-roots-list',
  'trigger-elicitation-request',
  'trigger-url-elicitation',
  'trigger-sampling-request',
  'simulate-research-query',
];

let scenes: readonly Scene[] = [];

beforeAll(async () => {
  scenes = await Promise.all(rows.map(open));
}, 20_000);

afterAll(async () => {
  for (const { client, server } of scenes) {
    await client.close();
    await server?.stop();
  }
});

describe.each(rows)('the everything server over $over', (row) => {
  const { over, transport } = row;
  let scene: Scene;
  let client: Client;

  beforeAll(() => {
    scene = scenes[rows.indexOf(row)] as Scene;
    client = scene.client;
  });

  test('identifies itself', () => {
    expect(client.info()).toMatchObject({ transport, revision: '2025-11-25', status: 'ready' });
    expect(client.server).toMatchObject({
      info: { name: 'mcp-servers/everything', title: 'Everything Reference Server' },
      instructions: expect.stringContaining('Everything Server'),
      capabilities: { logging: {}, resources: { subscribe: true } },
    });
  });

  test('lists its tools, resources, templates and prompts', async () => {
    expect((await client.tools().all()).map(({ name }) => name)).toEqual(tools);
    const resources = await client.resources().all();
    expect(resources.map(({ name }) => name)).toContain('architecture.md');
    const templates = await client.templates().all();
    expect(templates.map(({ uriTemplate }) => uriTemplate)).toEqual([
      'demo://resource/dynamic/text/{resourceId}',
      'demo://resource/dynamic/blob/{resourceId}',
    ]);
    const prompts = await client.prompts().all();
    expect(prompts.map(({ name }) => name)).toEqual([
      'simple-prompt',
      'args-prompt',
      'completable-prompt',
      'resource-prompt',
    ]);
  });

  test('answers tool calls', async () => {
    expect((await client.callTool('echo', { message: 'hi' })).text).toBe('Echo: hi');
    expect((await client.callTool('get-sum', { a: 2, b: 40 })).text).toBe('The sum of 2 and 40 is 42.');
    const { data } = await client.callTool('get-structured-content', { location: 'Chicago' });
    expect(data).toEqual({ temperature: 36, conditions: 'Light rain / drizzle', humidity: 82 });
    const { content } = await client.callTool('get-tiny-image');
    expect(content).toContainEqual({ type: 'image', mimeType: 'image/png', data: expect.any(String) });
    const annotated = await client.callTool('get-annotated-message', { messageType: 'error' });
    expect(annotated.content[0]).toMatchObject({ annotations: { priority: 1 } });
    const links = await client.callTool('get-resource-links', { count: 2 });
    expect(links.content.map(({ type }) => type)).toEqual(['text', 'resource_link', 'resource_link']);
    const reference = await client.callTool('get-resource-reference', {
      resourceType: 'Text',
      resourceId: 3,
    });
    expect(reference.content[1]).toMatchObject({
      type: 'resource',
      resource: { text: expect.stringMatching(/^Resource 3/) },
    });
    expect(await client.callTool('echo', { message: 7 })).toMatchObject({ isError: true });
    expect(await client.callTool('nothing')).toMatchObject({
      isError: true,
      text: expect.stringMatching(/not found/),
    });
  });

  test('gets only the environment variables that the client passes on stdio', async () => {
    const environment = JSON.parse((await client.callTool('get-env')).text);
    expect(environment).toHaveProperty('PATH');
    if (over !== 'stdio') return;
    expect(environment).toMatchObject({ GREETING: 'hello' });
    expect(process.env).toHaveProperty('VITEST');
    expect(environment).not.toHaveProperty('VITEST');
  });

  test('serves its resources, including one that a call has created', async () => {
    const instructions = await client.readResource('demo://resource/static/document/instructions.md');
    expect(instructions).toMatchObject({
      text: expect.stringMatching(/Everything Server/),
      contents: [{ mimeType: 'text/markdown' }],
    });
    expect((await client.readResource('demo://resource/dynamic/text/7')).text).toMatch(/^Resource 7/);
    const [blob] = (await client.readResource('demo://resource/dynamic/blob/7')).contents;
    expect(bytesOf(blob).toString()).toMatch(/^Resource 7/);
    await expect(client.readResource('demo://resource/dynamic/text/none')).rejects.toThrow(
      'Unknown resource',
    );

    const { content } = await client.callTool('gzip-file-as-resource', {
      name: 'it.gz',
      data: 'data:,squeezed',
    });
    const { uri } = content[0] as { uri: string };
    const [zipped] = (await client.readResource(uri)).contents;
    expect(gunzipSync(bytesOf(zipped)).toString()).toBe('squeezed');
    await until('the new resource is listed', async () =>
      (await client.resources().all()).some((resource) => resource.uri === uri),
    );
  });

  test('renders and completes its prompts', async () => {
    const text = async (name: string, args?: Record<string, string>): Promise<unknown> =>
      (await client.getPrompt(name, args)).messages[0]?.content;
    expect(await text('simple-prompt')).toMatchObject({ text: expect.stringMatching(/simple prompt/) });
    expect(await text('args-prompt', { city: 'Oslo' })).toMatchObject({ text: "What's weather in Oslo?" });
    const embedded = await client.getPrompt('resource-prompt', { resourceType: 'Text', resourceId: '3' });
    expect(embedded.messages[1]?.content).toMatchObject({
      type: 'resource',
      resource: { text: expect.stringMatching(/^Resource 3/) },
    });

    const prompt = 'completable-prompt';
    const departments = await client.complete({ prompt, argument: 'department', value: 'S' });
    expect(departments.values).toEqual(['Sales', 'Support']);
    const names = { prompt, argument: 'name', value: '', filled: { department: 'Sales' } };
    expect((await client.complete(names)).values).toEqual(['David', 'Eve', 'Frank']);
    const template = 'demo://resource/dynamic/text/{resourceId}';
    expect((await client.complete({ template, argument: 'resourceId', value: '7' })).values).toEqual(['7']);
  });

  test('reports the progress of a long call, and works on after a call is cancelled', async () => {
    const reports: unknown[] = [];
    await client.callTool(
      'trigger-long-running-operation',
      { duration: 0.02, steps: 4 },
      { onProgress: (progress) => reports.push(progress) },
    );
    expect(reports).toEqual([1, 2, 3, 4].map((progress) => ({ progress, total: 4 })));
    const stop = new AbortController();
    const long = client.callTool(
      'trigger-long-running-operation',
      { duration: 1, steps: 50 },
      { signal: stop.signal, onProgress: () => stop.abort() },
    );
    await expect(long).rejects.toMatchObject({ code: 'cancelled' });
    expect((await client.callTool('echo', { message: 'still here' })).text).toBe('Echo: still here');
  });

  test('asks the model and the user', async () => {
    const sampled = await client.callTool('trigger-sampling-request', { prompt: 'A slogan', maxTokens: 50 });
    expect(sampled.text).toContain('Ada adds up');
    expect(scene.samplings).toMatchObject([
      { maxTokens: 50, messages: [{ content: { text: expect.stringMatching(/A slogan/) } }] },
    ]);

    const elicited = await client.callTool('trigger-elicitation-request');
    expect(scene.forms).toContainEqual({
      message: 'Please provide inputs for the following fields:',
      schema: expect.objectContaining({ type: 'object' }),
    });
    // Fields that the user left unchanged have their defaults.
    expect(elicited.text).toContain('"firstLine": "It was a dark and stormy night."');

    const url = 'https://example.com/consent';
    const visited = await client.callTool('trigger-url-elicitation', { url, message: 'Please agree' });
    expect(visited.text).toContain('User completed the URL elicitation flow');
    expect(scene.visits).toEqual([{ url, message: 'Please agree' }]);
  });

  test('gets the roots of the client and their changes', async () => {
    expect((await client.callTool('get-roots-list')).text).toContain('file:///work');
    scene.roots = [{ uri: 'file:///elsewhere', name: 'elsewhere' }];
    await client.rootsChanged();
    await until('the server knows the new roots', async () =>
      (await client.callTool('get-roots-list')).text.includes('file:///elsewhere'),
    );
  });

  test('announces changes of a resource', async () => {
    const uri = 'demo://resource/dynamic/text/1';
    const subscription = await client.subscribe(uri);
    expect(subscription.accepted).toEqual({ uris: [uri] });
    const changes = subscription[Symbol.asyncIterator]();
    const change = changes.next();
    expect((await client.callTool('toggle-subscriber-updates')).text).toContain('Started');
    expect(await soon('The change', change)).toEqual({ done: false, value: { kind: 'resource', uri } });
    expect((await client.callTool('toggle-subscriber-updates')).text).toContain('Stopped');
    await subscription.close();
    expect(await changes.next()).toEqual({ done: true, value: undefined });
  });

  test('sends log messages', async () => {
    client.setLogLevel('debug');
    expect((await client.callTool('toggle-simulated-logging')).text).toContain('Started');
    await until('a message has come', () => scene.log.some(({ data }) => /level.message/.test(String(data))));
    expect((await client.callTool('toggle-simulated-logging')).text).toContain('Stopped');
  });

  test('runs a task that asks a question', async () => {
    expect((await scene.research).text).toContain('# Research Report: python (snake)');
    expect(scene.forms).toContainEqual({
      message: expect.stringContaining('"python" could have multiple interpretations'),
      schema: expect.objectContaining({ required: ['interpretation'] }),
    });
  });

  test('leaves nothing open after the client closes', async () => {
    const { problems, reconnects, pending } = client.info();
    expect({ problems, reconnects, pending }).toEqual({ problems: [], reconnects: 0, pending: 0 });
    await client.subscribe('demo://resource/dynamic/text/2');
    await client.close();
    const { server } = scene;
    if (server === undefined) {
      expect(await processesWith(`${script} stdio`)).toEqual([]);
      return;
    }
    await untilNothingOpen(server);
    const message = over === 'sse' ? 'Client Disconnected' : 'Transport closed for session';
    await until('the session has ended', () => server.output().includes(message));
  });
});

function bytesOf(contents: object | undefined): Buffer {
  return Buffer.from((contents as { blob: string }).blob, 'base64');
}
