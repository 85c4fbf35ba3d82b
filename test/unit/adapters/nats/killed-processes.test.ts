import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { connect } from 'fullmcp/client';
import { natsDiscovery, serviceAvailable } from 'fullmcp/nats';
import { afterEach, expect, test } from 'vitest';
import { describeWithNats, useNats } from '../../../support/engines/nats.js';
import { Closing } from '../../../support/engines/nats-services.js';
import { soon, until } from '../../../support/until.js';

const KEEP_ALIVE_MS = 300;

describeWithNats('processes over NATS that are killed or stopped', () => {
  const nat = useNats();
  const closing = new Closing();
  const children: ChildProcess[] = [];
  afterEach(async () => {
    await closing.all();
    for (const child of children.splice(0)) child.kill('SIGKILL');
  });

  async function start(script: 'service' | 'caller', service: string) {
    const file = fileURLToPath(new URL(`./fixtures/${script}.mjs`, import.meta.url));
    const child = spawn(process.execPath, [file, nat.engine.url, service, `${KEEP_ALIVE_MS}`], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    children.push(child);
    const lines: string[] = [];
    createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
    await until(`the ${script} is ready`, () => lines.includes('ready'));
    return { child, pid: String(child.pid), lines };
  }

  const discover = () => closing.add(natsDiscovery({ url: nat.engine.url, keepAliveMs: KEEP_ALIVE_MS }));

  test('A call whose service is killed fails in bounded time, and the service is not found any more', async () => {
    const { child, lines } = await start('service', 'killed');
    const discovery = discover();
    const client = closing.add(await connect({ service: 'killed', discovery }, { maxRetries: 0 }));
    const call = client.callTool('wait', {});
    call.catch(() => undefined);
    await until('the call runs', () => lines.includes('began'));
    await until('the instance has accepted the call, which it does after 50 ms', pause(500));
    expect(await serviceAvailable('killed', { discovery })).toBe(true);
    child.kill('SIGKILL');
    await until(
      'the service is not found any more',
      async () => !(await serviceAvailable('killed', { discovery })),
      5000,
    );
    await expect(soon('an error', call, 5000)).rejects.toMatchObject({
      code: 'connection_closed',
      message: expect.stringMatching(
        /^The instance \w+ of the service "killed" has ended\. It is not known whether the call took effect\.$/,
      ),
    });
    await expect(soon('an error', client.callTool('pid', {}), 5000)).rejects.toThrow(
      'No instance of the service "killed" is running.',
    );
  });

  test('Calls go on at the other replica while one after the other is killed', async () => {
    let running = [await start('service', 'pair'), await start('service', 'pair')];
    const client = closing.add(await connect({ service: 'pair', discovery: discover() }, { maxRetries: 10 }));
    // The client retries a call that may have been lost only if it knows that the tool may be called twice.
    await client.tools().all();
    for (let round = 0; round < 3; round++) {
      const [victim, other] = running as [(typeof running)[0], (typeof running)[0]];
      victim.child.kill('SIGKILL');
      const pids = new Set<string>();
      for (let n = 0; n < 50; n++) pids.add((await client.callTool('pid', {})).text);
      expect(pids).toContain(other.pid);
      const next = await start('service', 'pair');
      await until('the new replica serves', async () => (await client.callTool('pid', {})).text === next.pid);
      running = [other, next];
    }
  });

  test('A call whose service is stopped fails in bounded time, and the service serves again when it continues', async () => {
    const { child, lines } = await start('service', 'stopped');
    const discovery = discover();
    const client = closing.add(await connect({ service: 'stopped', discovery }, { maxRetries: 0 }));
    const call = client.callTool('wait', {});
    call.catch(() => undefined);
    await until('the call runs', () => lines.includes('began'));
    await until('the instance has accepted the call, which it does after 50 ms', pause(500));
    child.kill('SIGSTOP');
    try {
      await expect(soon('an error', call)).rejects.toMatchObject({
        code: 'connection_closed',
        message: expect.stringContaining('does not respond any more. It is not known whether'),
      });
      expect(await serviceAvailable('stopped', { discovery })).toBe(false);
      await expect(soon('an error', client.callTool('pid', {}))).rejects.toThrow('has accepted tools/call');
    } finally {
      child.kill('SIGCONT');
    }
    await until('it serves again', () =>
      client.callTool('pid', {}).then(
        () => true,
        () => false,
      ),
    );
    await until('the call was cancelled', () => lines.some((line) => line.startsWith('aborted')));
  });

  test('A call whose client is killed is cancelled at the server', async () => {
    const service = await start('service', 'lonely');
    const caller = await start('caller', 'lonely');
    await until('the call runs', () => service.lines.includes('began'));
    caller.child.kill('SIGKILL');
    await until('the call was cancelled', () =>
      service.lines.includes('aborted: The client does not respond any more'),
    );
  });

  test('A client that is stopped for a while keeps a call that its server still knows', async () => {
    const service = await start('service', 'patient');
    const caller = await start('caller', 'patient');
    await until('the call runs', () => service.lines.includes('began'));
    // Shorter than the time after which a server takes a client for gone.
    caller.child.kill('SIGSTOP');
    await until('it has stopped for a while', pause(3 * KEEP_ALIVE_MS));
    caller.child.kill('SIGCONT');
    await until('it has run for a while', pause(8 * KEEP_ALIVE_MS));
    expect(service.lines).not.toContain('aborted: The client does not respond any more');
    expect(caller.child.exitCode).toBe(null);
  });

  test('connect([…]) falls back to the next target when a service was killed', async () => {
    const first = await start('service', 'first');
    const second = await start('service', 'second');
    const discovery = discover();
    const targets = [
      { service: 'first', discovery },
      { service: 'second', discovery },
    ];
    const one = closing.add(await connect(targets));
    expect((await one.callTool('pid', {})).text).toBe(first.pid);
    first.child.kill('SIGKILL');
    await until('the first is gone', async () => !(await serviceAvailable('first', { discovery })));
    const two = closing.add(await connect(targets));
    expect((await two.callTool('pid', {})).text).toBe(second.pid);
  });
});

/** A condition that holds once the time has passed. */
function pause(ms: number): () => boolean {
  const end = performance.now() + ms;
  return () => performance.now() > end;
}
