import process from 'node:process';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Connection, connectTo, type Row, untilNotified } from './connections.js';

// Every scenario with every official client over each of its transports.

/** Waits until every process of the server knows what a client has changed in its session. */
export interface Settling {
  readonly level: (sessionId: string, level: string) => Promise<void>;
  readonly end: (sessionId: string) => Promise<void>;
}

type Scenario = (connection: Connection, row: Row, settling?: Settling) => Promise<void>;

const scenarios: Readonly<Record<string, Scenario>> = {
  async 'learns who the server is'({ client }, { modern, behind }) {
    expect(client.getServerVersion()).toMatchObject({ name: 'interop', version: '1.2.3' });
    // A gateway does not start its servers to learn their instructions.
    if (behind?.isGateway !== true) expect(client.getInstructions()).toBe('Call the tools.');
    expect(client.getServerCapabilities()).toMatchObject({
      tools: { listChanged: true },
      resources: { listChanged: true, subscribe: true },
      prompts: { listChanged: true },
      completions: {},
    });
    expect(client.getNegotiatedProtocolVersion?.() ?? '2025-11-25').toBe(
      modern ? '2026-07-28' : '2025-11-25',
    );
  },

  async 'is known to the handler'({ call }, row) {
    const { modern } = row.behind ?? row;
    const { structuredContent } = await call('client');
    expect(structuredContent).toMatchObject({
      name: 'interop-test',
      revision: modern ? '2026-07-28' : '2025-11-25',
    });
  },

  async 'reads all pages of tools'({ client }, { who, behind }) {
    const names: string[] = [];
    let cursor: string | undefined;
    let pages = 0;
    do {
      const page = await client.listTools(cursor === undefined ? undefined : { cursor });
      names.push(...page.tools.map((tool) => tool.name));
      cursor = page.nextCursor;
      pages++;
    } while (cursor !== undefined);
    expect(names).toEqual(expect.arrayContaining(['add', 'weather', 'wait', 'client']));
    expect(new Set(names).size).toBe(names.length);
    // The second package follows the cursors itself, as a gateway does.
    expect(pages).toBe(who === 'v1' && behind?.isGateway !== true ? 3 : 1);
  },

  async 'lists resources, templates and prompts'({ client }) {
    const { resources } = await client.listResources();
    expect(resources.map(({ uri }) => uri)).toEqual(['text://hello', 'bytes://pixel']);
    const { resourceTemplates } = await client.listResourceTemplates();
    expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual(['users://{id}/profile']);
    const { prompts } = await client.listPrompts();
    expect(prompts).toMatchObject([
      {
        name: 'review',
        arguments: [{ name: 'code', required: true }, { name: 'language' }],
      },
    ]);
  },

  async 'calls a tool'({ call }) {
    expect((await call('add', { a: 2, b: 40 })).content).toEqual([{ type: 'text', text: '42' }]);
  },

  async 'accepts structured output of a tool that it has listed'({ client, call }) {
    await client.listTools();
    const { structuredContent } = await call('weather', { city: 'Oslo' });
    expect(structuredContent).toEqual({ city: 'Oslo', degrees: 21.5 });
  },

  async 'gets a failed tool and wrong arguments as results'({ call }) {
    const failed = await call('fail');
    expect(failed).toMatchObject({ isError: true, content: [{ text: 'Order 7 does not exist' }] });
    const wrong = await call('add', { a: 'two', b: 40 });
    expect(wrong.isError).toBe(true);
    expect(wrong.content[0]?.text).toMatch(/\ba\b.*number/);
  },

  async 'gets an error for a tool that does not exist'({ call }) {
    await expect(call('nothing')).rejects.toMatchObject({ code: -32602 });
  },

  async 'mirrors a parameter in a header if the revision has such headers'({ client, call }, row) {
    const { modern, over } = row.behind ?? row;
    await client.listTools();
    const { structuredContent } = await call('region', { region: 'Zürich' });
    expect(structuredContent).toEqual({ region: 'Zürich', header: modern && over === 'http' });
  },

  async 'reads text, bytes and a template'({ client }) {
    const read = async (uri: string) => (await client.readResource({ uri })).contents;
    expect(await read('text://hello')).toMatchObject([{ text: 'Hello, world', mimeType: 'text/plain' }]);
    const [pixel] = await read('bytes://pixel');
    expect([...Buffer.from(pixel?.blob ?? '', 'base64')]).toEqual([0x89, 0x50, 0x4e, 0x47, 0xff, 0x00]);
    const [profile] = await read('users://ada%20l/profile');
    expect(profile?.uri).toBe('users://ada%20l/profile');
    expect(JSON.parse(profile?.text ?? '')).toEqual({ id: 'ada l' });
    await expect(client.readResource({ uri: 'text://nothing' })).rejects.toMatchObject({
      code: expect.any(Number),
    });
  },

  async 'gets a prompt and completes its arguments'({ client }) {
    const { messages } = await client.getPrompt({ name: 'review', arguments: { code: '1 + 1' } });
    expect(messages).toEqual([{ role: 'user', content: { type: 'text', text: 'Review this code:\n1 + 1' } }]);
    const forPrompt = await client.complete({
      ref: { type: 'ref/prompt', name: 'review' },
      argument: { name: 'language', value: 't' },
    });
    expect(forPrompt.completion.values).toEqual(['typescript', 'tcl']);
    const forTemplate = await client.complete({
      ref: { type: 'ref/resource', uri: 'users://{id}/profile' },
      argument: { name: 'id', value: 'a' },
    });
    expect(forTemplate.completion.values).toEqual(['ada', 'alan']);
  },

  // These clients drop progress that reaches them in one read with the answer. The server keeps the two apart, but a client
  // that does not read for longer than that still gets them together, hence several attempts. Without that
  // distance no attempt succeeds.
  async 'gets every progress notification'({ call }) {
    const expected = [1, 2, 3, 4, 5];
    let steps: number[] = [];
    for (let attempt = 0; attempt < 5 && steps.length < expected.length; attempt++) {
      steps = [];
      const onprogress = ({ progress }: { progress: number }): void => void steps.push(progress);
      const { content } = await call('count', { to: 5 }, { onprogress });
      expect(content).toEqual([{ type: 'text', text: 'counted to 5' }]);
    }
    expect(steps).toEqual(expected);
  },

  async 'cancels a call, and its handler sees that'({ call }, row) {
    const key = `cancel ${row.who} ${row.over}`;
    const controller = new AbortController();
    const onprogress = (): void => controller.abort('enough');
    await expect(call('wait', { key }, { signal: controller.signal, onprogress })).rejects.toThrow();
    expect((await call('gate', { key })).content).toEqual([{ type: 'text', text: `${key} is open` }]);
  },

  async 'has several calls open at once'({ call }, row) {
    const key = `parallel ${row.who} ${row.over}`;
    const order: string[] = [];
    const slow = call('gate', { key }).then(() => order.push('slow'));
    const fast = call('add', { a: 1, b: 1 }).then(() => order.push('fast'));
    await fast;
    await call('open', { key });
    await slow;
    expect(order).toEqual(['fast', 'slow']);
  },

  async 'is notified of changes until it unsubscribes'(connection, row, settling) {
    const { call, notifications } = connection;
    const uri = `text://hello?${row.who} ${row.over}`;
    const watching = await connection.watch(uri);
    await call('touch', { uri: 'text://other' });
    await call('touch', { uri });
    await untilNotified(connection, 'notifications/resources/updated', (params) => params['uri'] === uri);
    await call('grow', { name: 'grown' });
    for (const kind of ['tools', 'resources', 'prompts']) {
      await untilNotified(connection, `notifications/${kind}/list_changed`);
    }
    await watching.end();
    const next = await connection.watch(`${uri} again`);
    await call('touch', { uri });
    await call('touch', { uri: `${uri} again` });
    await untilNotified(
      connection,
      'notifications/resources/updated',
      (params) => params['uri'] === `${uri} again`,
    );
    await next.end();
    const updates = notifications
      .filter(({ method }) => method === 'notifications/resources/updated')
      .map(({ params }) => params?.['uri']);
    // A replica that hears of a subscription from another one reports the resource once, because it may have missed a change.
    expect(settling ? [...new Set(updates)] : updates).toEqual([uri, `${uri} again`]);
  },

  async 'gets log messages from the requested level upwards'(connection, { modern }, settling) {
    const { sessionId = '' } = connection.transport;
    const settled = async (level: string): Promise<void> => {
      if (!modern) await settling?.level(sessionId, level);
    };
    const before = connection.notifications.length;
    await connection.callWithLog('warning', 'chatter', settled);
    await untilNotified(connection, 'notifications/message');
    await connection.callWithLog('debug', 'chatter', settled);
    await untilNotified(connection, 'notifications/message', ({ level }) => level === 'debug');
    const messages = connection.notifications
      .slice(before)
      .filter(({ method }) => method === 'notifications/message');
    expect(messages.map(({ params }) => params)).toMatchObject([
      { level: 'warning', data: { loud: true }, logger: 'fixture' },
      { level: 'debug', data: 'quiet', logger: 'fixture' },
      { level: 'warning', data: { loud: true }, logger: 'fixture' },
    ]);
  },
};

/** Runs every scenario with the clients of these rows. The server is `interop-definition.js`. */
export function officialClientTests(rows: readonly Row[], url: () => string, settling?: Settling): void {
  describe.each(rows)('client $who over $over', (row) => {
    let connection: Connection;

    beforeAll(async () => {
      connection = await connectTo(url(), row);
    });

    afterAll(async () => {
      await connection.close();
    });

    test.each(Object.entries(scenarios))('%s', async (_name, scenario) => {
      await scenario(connection, row, settling);
    });

    test('reports no errors', () => {
      expect(connection.errors.filter((error) => !isExpected(error, row))).toEqual([]);
    });

    if (row.over === 'stdio') {
      test('ends the server process when the connection closes', async () => {
        const { pid } = connection.transport;
        expect(pid).toEqual(expect.any(Number));
        await connection.close();
        expect(() => process.kill(pid ?? 0, 0)).toThrow('ESRCH');
      });
    }

    if (row.over === 'http' && !row.modern) {
      test('ends its session with terminateSession', async () => {
        const { sessionId } = connection.transport;
        expect(sessionId).toEqual(expect.any(String));
        await connection.transport.terminateSession?.();
        await settling?.end(sessionId ?? '');
        const after = await fetch(url(), {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'mcp-session-id': sessionId ?? '' },
          body: '{"jsonrpc":"2.0","id":1,"method":"ping"}',
        });
        expect(after.status).toBe(404);
      });
    }
  });
}

function isExpected({ message }: Error, { over, modern }: Row): boolean {
  // A client that did not read in time drops progress notifications and reports that.
  if (message.includes('unknown token')) return true;
  // A cancelled call of a session is answered: a stream that ends without an answer makes these clients reconnect for it.
  return (
    over === 'http' &&
    !modern &&
    message.includes('unknown message ID') &&
    (message.includes('nobody reads this') || message.includes('The client cancelled the call'))
  );
}
