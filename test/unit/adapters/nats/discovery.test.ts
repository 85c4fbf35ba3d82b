import { createServer, memoryDiscovery, registerService, tool } from 'fullmcp';
import { connect } from 'fullmcp/client';
import { findService, listServices, natsDiscovery, serveNats, serviceAvailable } from 'fullmcp/nats';
import { afterEach, expect, test } from 'vitest';
import { byName, serveWeather } from '../../../../examples/services/nats.js';
import { describeWithNats, startNats, useNats } from '../../../support/engines/nats.js';
import { connectRaw } from '../../../support/engines/nats-raw.js';
import { Closing, makeServer } from '../../../support/engines/nats-services.js';
import { until } from '../../../support/until.js';

describeWithNats('discovery over NATS', () => {
  const nat = useNats();
  const closing = new Closing();
  afterEach(() => closing.all());

  const discover = (options = {}) => closing.add(natsDiscovery({ url: nat.engine.url, ...options }));

  async function serve(service: string) {
    const { server } = makeServer({ where: service });
    closing.add(server);
    return closing.add(await serveNats(server, { url: nat.engine.url, service }));
  }

  test('A service that starts later is waited for, and the page about services tells the truth', async () => {
    const connecting = byName(nat.engine.url);
    closing.add(await serveWeather(nat.engine.url));
    const { client, all } = await connecting;
    expect(all).toEqual([expect.objectContaining({ name: 'weather', transports: ['nats'] })]);
    expect((await client.callTool('forecast')).text).toBe('Sunny');
    expect(client.info().transport).toBe('nats');
    await client.close();
  });

  test('The reason of a cancellation reaches the handler', async () => {
    let tell = (_reason: unknown): void => undefined;
    const told = new Promise<unknown>((resolve) => {
      tell = resolve;
    });
    const controller = new AbortController();
    const wait = tool({
      run: (_, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            tell(signal.reason);
            reject(signal.reason);
          });
          controller.abort('The user pressed stop');
        }),
    });
    const server = createServer({ name: 'waiting', version: '1', tools: { wait } });
    closing.add(await serveNats(server, { url: nat.engine.url }));
    const client = await connect({ service: 'waiting', discovery: discover() });
    const { signal } = controller;
    await expect(client.callTool('wait', {}, { signal })).rejects.toMatchObject({ code: 'cancelled' });
    expect(await told).toMatchObject({ code: 'cancelled', cause: 'The user pressed stop' });
    await client.close();
  });

  test('A service is listed with its name, version, tools, revisions, node and start time', async () => {
    const before = Date.now();
    const one = await serve('one');
    const two = await serve('two');
    const again = await serve('two');
    const discovery = discover();
    const services = await listServices({ discovery });
    expect(services.map(({ name, id }) => `${name} ${id}`).sort()).toEqual(
      [`one ${one.id}`, `two ${two.id}`, `two ${again.id}`].sort(),
    );
    const [found] = services;
    expect(found).toMatchObject({
      version: '1.2.3',
      revisions: ['2026-07-28'],
      transports: ['nats'],
      node: expect.stringMatching(new RegExp(`:${process.pid}$`)),
    });
    expect(found?.tools).toContain('add');
    expect(Date.parse(found?.startedAt ?? '')).toBeGreaterThanOrEqual(before);
    expect((await findService('one', { discovery }))?.id).toBe(one.id);
    expect(await serviceAvailable('two', { discovery })).toBe(true);
    expect(await serviceAvailable('three', { discovery })).toBe(false);
    expect(await serviceAvailable('not a name.*', { discovery })).toBe(false);
  });

  test('connect({ service }) finds and calls a service, and is typed', async () => {
    const server = createServer({ name: 'typed', version: '1.0.0', tools: { two: tool({ run: () => 2 }) } });
    closing.add(server);
    const discovery = discover();
    closing.add(await registerService(server, { discovery }));
    const client = closing.add(await connect<typeof server>({ service: 'typed', discovery: discover() }));
    const two: number = await client.tool.two();
    expect(two).toBe(2);
  });

  test('connect([…]) tries targets in the given order and falls back', async () => {
    await serve('second');
    const discovery = discover();
    const client = closing.add(
      await connect([
        { service: 'first', discovery },
        { service: 'second', discovery },
        'http://127.0.0.1:1/mcp',
      ]),
    );
    expect((await client.callTool('where', {})).text).toBe('second');
    await serve('first');
    const other = closing.add(await connect([{ service: 'first', discovery }, `${nat.engine.url}/second`]));
    expect((await other.callTool('where', {})).text).toBe('first');
  });

  test('Services of others, and garbage, are left out', async () => {
    await serve('mine');
    const raw = closing.add(await connectRaw(nat.engine.url));
    const answers = [
      'garbage',
      '[]',
      '{"type":"io.nats.micro.v1.info_response","name":"other","id":"x","version":"1.0.0","metadata":{}}',
      '{"type":"io.nats.micro.v1.info_response","name":5,"id":"x","metadata":{"mcp.revisions":"2026-07-28"}}',
      '{"type":"io.nats.micro.v1.ping_response","name":"ping","id":"x","metadata":{"mcp.revisions":"2026-07-28"}}',
      '{"type":"io.nats.micro.v1.info_response","name":"odd","id":"y","metadata":{"mcp.revisions":"2026-07-28"},"endpoints":[null,{"subject":"mcp.odd","metadata":{"mcp.tools":"{"}}]}',
    ];
    raw.subscribe('$SRV.INFO', {
      callback(_error, { reply = '' }) {
        for (const answer of answers) raw.publish(reply, answer);
      },
    });
    await raw.flush();
    const services = await discover().list();
    expect(services.map(({ name }) => name).sort()).toEqual(['mine', 'odd']);
    expect(services.find(({ name }) => name === 'odd')?.tools).toEqual([]);
  });

  test('Services with another prefix are neither found nor reached', async () => {
    const { server } = makeServer();
    closing.add(server);
    closing.add(await serveNats(server, { url: nat.engine.url, service: 'staged', prefix: 'staging.mcp' }));
    expect(await serviceAvailable('staged', { discovery: discover() })).toBe(false);
    await expect(connect({ service: 'staged', discovery: discover() })).rejects.toThrow(
      'No instance of the service',
    );
    const staging = discover({ prefix: 'staging.mcp' });
    expect(await serviceAvailable('staged', { discovery: staging })).toBe(true);
    const client = closing.add(await connect({ service: 'staged', discovery: staging }));
    expect((await client.callTool('add', { a: 1, b: 1 })).text).toBe('2');
  });

  test('A user of NATS that may only use subjects of its own reaches the service', async () => {
    const engine = await startNats({
      config: `authorization { users: [
        { user: server, password: s },
        { user: client, password: c, permissions: {
          publish: ["mcp.tools", "mcp.tools.>", "$SRV.INFO.tools"], subscribe: ["_INBOX_client.>"] } }
      ] }`,
    });
    const { server } = makeServer();
    const host = engine.url.slice('nats://'.length);
    const serving = await serveNats(server, { servers: [host], user: 'server', pass: 's' });
    const allowed = natsDiscovery({ url: `nats://client:c@${host}`, inboxPrefix: '_INBOX_client' });
    const refused = natsDiscovery({ url: `nats://client:c@${host}` });
    try {
      expect(await serviceAvailable('tools', { discovery: allowed })).toBe(true);
      await using client = await connect({ service: 'tools', discovery: allowed });
      expect((await client.callTool('add', { a: 1, b: 1 })).text).toBe('2');
      await expect(connect({ service: 'tools', discovery: refused })).rejects.toThrow(
        'NATS does not allow this client to receive answers',
      );
      await expect(serveNats(server, { url: `nats://client:c@${host}` })).rejects.toThrow(
        /The service "tools" could not be started: NATS does not allow this server to listen to/,
      );
    } finally {
      await Promise.all([allowed.close(), refused.close(), serving.close()]);
      await server.close();
      await engine.stop();
    }
  });

  test('Links of one discovery come back after NATS was restarted', async () => {
    await serve('lasting');
    const discovery = discover();
    const reconnect = { baseMs: 10, maxMs: 100 };
    const clients = await Promise.all(
      Array.from({ length: 5 }, () => connect({ service: 'lasting', discovery }, { reconnect })),
    );
    for (const client of clients) closing.add(client);
    await nat.engine.restart();
    for (const client of clients)
      await until('calls work again', () =>
        client.callTool('where', {}).then(
          ({ text }) => text === 'lasting',
          () => false,
        ),
      );
  });

  test('A service that is closed is not found any more', async () => {
    const serving = await serve('brief');
    const discovery = discover();
    expect(await serviceAvailable('brief', { discovery })).toBe(true);
    await serving.close();
    expect(await serviceAvailable('brief', { discovery })).toBe(false);
  });

  test('A discovery that is closed ends the services that it registered', async () => {
    const { server } = makeServer();
    closing.add(server);
    const own = natsDiscovery({ url: nat.engine.url });
    await registerService(server, { discovery: own, service: 'owned' });
    const discovery = discover();
    expect(await serviceAvailable('owned', { discovery })).toBe(true);
    await own.close();
    expect(await serviceAvailable('owned', { discovery })).toBe(false);
    await expect(own.list()).rejects.toThrow('is closed');
  });

  test('connect({ service }) looks in this process first, and then at MCP_CLUSTER_URL', async () => {
    await serve('elsewhere');
    process.env['MCP_CLUSTER_URL'] = nat.engine.url;
    try {
      const remote = closing.add(await connect({ service: 'elsewhere' }));
      expect(remote.info().transport).toBe('nats');
      const { server } = makeServer({ where: 'local' });
      closing.add(server);
      closing.add(await registerService(server, { service: 'elsewhere' }));
      const local = closing.add(await connect({ service: 'elsewhere' }));
      expect([local.info().transport, (await local.callTool('where', {})).text]).toEqual([
        'in-process',
        'local',
      ]);
    } finally {
      delete process.env['MCP_CLUSTER_URL'];
    }
  });

  test('The discovery in memory has the same functions', async () => {
    const discovery = memoryDiscovery();
    const { server } = makeServer({ where: 'here' });
    closing.add(server);
    const registered = await registerService(server, { discovery });
    expect(await findService('tools', { discovery })).toMatchObject({
      name: 'tools',
      version: '1.2.3',
      id: registered.id,
    });
    const client = closing.add(await connect<typeof server>({ service: 'tools', discovery }));
    expect(await client.tool.add({ a: 1, b: 2 })).toBe(3);
    await registered.close();
    expect(await listServices({ discovery })).toEqual([]);
    await expect(connect({ service: 'tools', discovery })).rejects.toThrow(
      'No server with the name "tools" is registered in this process.',
    );
  });
});
