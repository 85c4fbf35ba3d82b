import { createServer, findService, listServices, memoryDiscovery, registerService, tool } from 'fullmcp';
import { connect } from 'fullmcp/client';
import { describe, expect, onTestFinished, test } from 'vitest';

function weather() {
  return createServer({ name: 'weather', version: '1.2.3', tools: { look: tool({ run: () => 'sunny' }) } });
}

describe('a service in this process', () => {
  test('has its transports in its description, and is reached over the first of them', async () => {
    const discovery = memoryDiscovery();
    await registerService(weather(), { discovery });
    const [found] = await listServices({ discovery });
    expect(found).toMatchObject({ name: 'weather', transports: ['in-process'], node: 'this process' });
    expect(await findService('weather', { discovery })).toEqual(found);
    await using client = await connect({ service: 'weather', discovery });
    expect(client.info().transport).toBe('in-process');
  });

  test('is connected to before NATS is asked for it', async () => {
    const registered = await registerService(weather());
    onTestFinished(() => registered.close());
    process.env['MCP_CLUSTER_URL'] = 'nats://127.0.0.1:1';
    onTestFinished(() => void delete process.env['MCP_CLUSTER_URL']);
    await using client = await connect({ service: 'weather' });
    expect(client.info().transport).toBe('in-process');
  });
});

describe('waitMs of a service', () => {
  test('lets connect wait until the service is registered', async () => {
    const discovery = memoryDiscovery();
    let asked = (): void => undefined;
    const first = new Promise<void>((resolve) => {
      asked = resolve;
    });
    const watched = {
      ...discovery,
      find: (name: string) => {
        asked();
        return discovery.find(name);
      },
    };
    const connecting = connect({ service: 'weather', discovery: watched, waitMs: 60_000 });
    await first;
    await registerService(weather(), { discovery });
    await using client = await connecting;
    expect((await client.callTool('look')).text).toBe('sunny');
  });

  test('ends with the error of a service that is not there', async () => {
    await expect(
      connect({ service: 'nothing', discovery: memoryDiscovery(), waitMs: 1 }),
    ).rejects.toMatchObject({ code: 'connect_failed', message: expect.stringContaining('"nothing"') });
  });

  test('ends with the signal of connect', async () => {
    const controller = new AbortController();
    const discovery = memoryDiscovery();
    const watched = {
      ...discovery,
      find: async (name: string) => {
        controller.abort();
        return discovery.find(name);
      },
    };
    const options = { signal: controller.signal };
    await expect(
      connect({ service: 'nothing', discovery: watched, waitMs: 60_000 }, options),
    ).rejects.toMatchObject({ code: 'cancelled' });
  });

  test('must be a whole number of milliseconds', async () => {
    await expect(
      connect({ service: 'nothing', discovery: memoryDiscovery(), waitMs: Number.NaN }),
    ).rejects.toThrow('waitMs');
  });
});
