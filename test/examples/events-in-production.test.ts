import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hashApiKey } from 'fullmcp/auth';
import { connect } from 'fullmcp/client';
import { serve } from 'fullmcp/node';
import { expect, test } from 'vitest';
import { makeDesk, openHost, subscribe, troubled } from '../../examples/events/production.js';
import { until } from '../support/until.js';

// Runs the code that docs/events-in-production.md shows.

async function linesOf(lines: AsyncIterable<string>): Promise<readonly string[]> {
  const all: string[] = [];
  for await (const line of lines) all.push(line);
  return all;
}

test('the desk tells a host what happens in its queue, also after a restart, and its operator which host does not listen', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'fullmcp-desk-'));
  const key = 'host-key-that-nobody-guesses';
  const told: string[] = [];
  const host = await openHost((text) => told.push(text));
  const keys = [{ hash: await hashApiKey(key), subject: 'host' }];
  const start = async () => {
    const desk = makeDesk({ folder, keys, secret: 's'.repeat(32), privateHosts: [host.origin] });
    return { desk, running: await serve(desk, { port: 0, signals: false }) };
  };
  const setStatus = async (url: string, id: string, queue: string) => {
    await using client = await connect(url, { auth: key });
    await client.callTool('set_status', { id, queue, status: 'open' });
  };
  let { desk, running } = await start();
  try {
    const client = await connect(String(running.url), { auth: key });
    const subscription = await subscribe(host, client);
    await setStatus(String(running.url), 'T-1', 'billing');
    await setStatus(String(running.url), 'T-2', 'sales');
    await until('the host was told', () => told.length === 1);
    await subscription.close();
    await client.close();
    await running.close();
    ({ desk, running } = await start());
    await setStatus(String(running.url), 'T-3', 'billing');
    await until('the host was told after the restart', () => told.length === 2);
    expect(told.map((text) => text.replaceAll('"', ''))).toEqual([
      'ticket_changed: {id:T-1,queue:billing,status:open}',
      'ticket_changed: {id:T-3,queue:billing,status:open}',
    ]);
    expect(await linesOf(troubled(desk))).toEqual([]);
    host.http.closeAllConnections();
    await new Promise((resolve) => host.http.close(resolve));
    for (let n = 0; n < 20; n++)
      await desk.emit('ticket_changed', { id: `T-1${n}`, queue: 'billing', status: 'closed' });
    await until('the operator sees it', async () =>
      /^sub_\w+ \(http:.*\) is active: 0 put aside, \d+ waiting, connection_refused$/.test(
        (await linesOf(troubled(desk)))[0] ?? '',
      ),
    );
  } finally {
    await host.hooks.close();
    await running.close();
    rmSync(folder, { recursive: true, force: true });
  }
});
