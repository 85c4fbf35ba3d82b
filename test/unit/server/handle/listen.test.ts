import { createServer, inProcess, resource, tool } from 'fullmcp';
import { createHandler } from 'fullmcp/http';
import { describe, expect, it } from 'vitest';
import { quiet as settle } from '../../../support/tasks.js';
import { until } from '../../../support/until.js';

const quiet = { name: 'test', version: '1.0.0', secret: 'x'.repeat(32), logger: () => undefined };
const run = (): string => 'done';
const ann = { subject: 'ann' };
const bob = { subject: 'bob', scopes: ['read'] };

type Caller = { readonly subject: string; readonly scopes?: readonly string[] };

/** Subscribes, and collects the notifications. */
async function subscribe(
  server: Parameters<typeof inProcess>[0],
  caller: Caller | undefined,
  notifications: object,
) {
  const seen: string[] = [];
  const ending = new AbortController();
  let granted: object | undefined;
  let acknowledge!: () => void;
  const acknowledged = new Promise<void>((resolve) => {
    acknowledge = resolve;
  });
  const call = inProcess(server, caller && { caller });
  const ended = call(
    'subscriptions/listen',
    { notifications: { ...notifications } },
    {
      signal: ending.signal,
      onNotification(method, params) {
        if (method.endsWith('acknowledged')) {
          granted = params?.['notifications'] as object;
          acknowledge();
        } else seen.push(`${method.replace('notifications/', '')} ${params?.['uri'] ?? ''}`.trim());
      },
    },
  );
  const failure = await Promise.race([
    ended.then(
      () => undefined,
      (error) => error,
    ),
    acknowledged,
  ]);
  return { seen, granted, failure, end: () => ending.abort() };
}

describe('a subscription to a resource with rules', () => {
  let banned = '';
  const server = createServer({
    ...quiet,
    changes: true,
    resources: {
      'doc://open': resource({ read: run }),
      'doc://scoped': resource({ scopes: ['read'], read: run }),
      'doc://hidden': resource({
        allow: async (auth) => auth?.subject === 'bob' && banned !== 'bob',
        read: run,
      }),
      'user://{name}': resource({
        allow: (auth, input) => input === undefined || input.name === auth?.subject,
        read: run,
      }),
    },
  });
  const uris = ['doc://open', 'doc://scoped', 'doc://hidden', 'doc://unknown', 'user://ann', 'user://bob'];

  async function updatesFor(caller: Caller | undefined): Promise<{ granted: unknown; seen: string[] }> {
    const { seen, granted, end } = await subscribe(server, caller, { resourceSubscriptions: uris });
    for (const uri of uris) server.changed.resource(uri);
    await settle();
    end();
    return { granted, seen: seen.map((line) => line.replace('resources/updated ', '')).sort() };
  }

  it('reports the changes of those that the caller may read, and of no other', async () => {
    const { granted, seen } = await updatesFor(ann);
    // A hidden one is accepted, as one that does not exist is. One that needs scopes is not.
    expect(granted).toEqual({ resourceSubscriptions: uris.filter((uri) => uri !== 'doc://scoped') });
    expect(seen).toEqual(['doc://open', 'doc://unknown', 'user://ann']);
    expect((await updatesFor(bob)).seen).toEqual([
      'doc://hidden',
      'doc://open',
      'doc://scoped',
      'doc://unknown',
      'user://bob',
    ]);
    expect((await updatesFor(undefined)).seen).toEqual([...uris].sort());
  });

  it('reports nothing more once `allow` refuses the caller', async () => {
    const { seen, end } = await subscribe(server, bob, { resourceSubscriptions: ['doc://hidden'] });
    server.changed.resource('doc://hidden');
    await until('the change is reported', () => seen.length === 1);
    banned = 'bob';
    server.changed.resource('doc://hidden');
    await settle();
    expect(seen).toHaveLength(1);
    banned = '';
    end();
  });

  it('is refused with the challenge if scopes are missing for everything in it', async () => {
    const { failure } = await subscribe(server, ann, { resourceSubscriptions: ['doc://scoped'] });
    expect(failure).toMatchObject({ code: 'forbidden', data: { scopes: ['read'] } });
    const mixed = await subscribe(server, ann, {
      resourceSubscriptions: ['doc://scoped'],
      toolsListChanged: true,
    });
    expect(mixed.failure).toBeUndefined();
    expect(mixed.granted).toEqual({ toolsListChanged: true });
    mixed.end();
  });
});

describe('a change of a list', () => {
  it('is reported only to callers that see the definition that was added or removed', async () => {
    const server = createServer({ ...quiet, changes: true, tools: { open: tool({ run }) } });
    const all = { toolsListChanged: true, resourcesListChanged: true, promptsListChanged: true };
    const forAnn = await subscribe(server, ann, all);
    const forBob = await subscribe(server, bob, all);
    const added = [
      server.tool('t', { scopes: ['read'] }, run),
      server.prompt('p', { allow: async (auth) => auth?.subject === 'bob' }, run),
      server.resource('doc://r', { scopes: ['read'] }, run),
      server.resource('doc://{t}', { scopes: ['read'] }, run),
    ];
    await settle();
    expect(forBob.seen.sort()).toEqual([
      'prompts/list_changed',
      'resources/list_changed',
      'resources/list_changed',
      'tools/list_changed',
    ]);
    for (const registration of added) registration.remove();
    await settle();
    expect(forBob.seen).toHaveLength(8);
    expect(forAnn.seen).toEqual([]);
    server.tool('public', {}, run);
    server.changed.prompts(); // the program knows best
    await settle();
    expect(forAnn.seen).toEqual(['tools/list_changed', 'prompts/list_changed']);
    forAnn.end();
    forBob.end();
  });
});

describe('resources/subscribe of a session', () => {
  it('is refused with the challenge if scopes are missing, and accepts a hidden resource as an unknown one', async () => {
    const server = createServer({
      ...quiet,
      changes: true,
      resources: {
        'doc://scoped': resource({ scopes: ['read'], read: run }),
        'doc://hidden': resource({ allow: () => false, read: run }),
      },
    });
    const handler = createHandler(server, { auth: () => ann });
    let session = '';
    const post = async (
      method: string,
      params: object,
    ): Promise<{ error?: { message: string; data?: unknown } }> => {
      const response = await handler(
        new Request('http://localhost/mcp', {
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            accept: 'application/json, text/event-stream',
            ...(session !== '' && { 'mcp-session-id': session, 'mcp-protocol-version': '2025-11-25' }),
          },
          body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
        }),
      );
      session = response.headers.get('mcp-session-id') ?? session;
      const text = await response.text();
      const json = text.startsWith('{') ? text : (text.match(/^data: (\{.*)$/m)?.[1] ?? '{}');
      return JSON.parse(json);
    };
    await post('initialize', {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'test', version: '1' },
    });
    const scoped = await post('resources/subscribe', { uri: 'doc://scoped' });
    expect(scoped.error).toMatchObject({ data: { scopes: ['read'] } });
    expect((await post('resources/subscribe', { uri: 'doc://hidden' })).error).toBeUndefined();
    expect((await post('resources/subscribe', { uri: 'doc://unknown' })).error).toBeUndefined();
    await handler.close();
  });
});
