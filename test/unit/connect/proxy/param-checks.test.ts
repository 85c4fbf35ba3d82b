// Arguments that callers of a proxy repeat in headers, while the proxy does not know the tools yet.

import type { Call, Outcome } from 'fullmcp';
import { expect, onTestFinished, test } from 'vitest';
import { proxy } from '../../../../src/proxy.js';
import { until } from '../../../support/until.js';

const region = { type: 'string', 'x-mcp-header': 'Region' };
const tools = [{ name: 'go', inputSchema: { type: 'object', properties: { region } } }];

/** A proxy to a server whose list of tools waits until it is let go. */
function proxyWithHeldList() {
  const waiting: (() => void)[] = [];
  const done = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' } as const;
  const dispatch = async ({ method, signal }: Call): Promise<Outcome> => {
    if (method === 'server/discover')
      return { ...done, supportedVersions: ['2026-07-28'], capabilities: { tools: {} } };
    if (method === 'tools/call') return { ...done, content: [{ type: 'text', text: 'went' }] };
    await new Promise<void>((resolve, reject) => {
      waiting.push(resolve);
      signal.addEventListener('abort', () => reject(signal.reason));
    });
    return { ...done, tools };
  };
  const between = proxy({ dispatch }, { logger: () => undefined });
  onTestFinished(() => between.close());
  return { between, waiting };
}

/** A call whose header says `header`, and whose argument says `argument`. */
function callOf(header: string, argument: string, { signal } = new AbortController()): Call {
  const headerOf = (name: string) => (name.toLowerCase() === 'mcp-param-region' ? header : undefined);
  return {
    ...{ id: 1, method: 'tools/call', params: { name: 'go', arguments: { region: argument } } },
    ...{ notify: () => undefined, signal, via: { transport: 'http' } },
    http: { header: headerOf, mirrored: headerOf, remoteAddress: '192.0.2.1', version: '1.1' },
    peer: { revision: '2026-07-28', client: undefined, capabilities: {}, logLevel: undefined },
  } as unknown as Call;
}

test('a call that comes while the tools are looked for is compared with its headers, too', async () => {
  const { between, waiting } = proxyWithHeldList();
  const first = between.dispatch(callOf('eu', 'eu'));
  await until('the tools are looked for', () => waiting.length === 1);
  const second = between.dispatch(callOf('eu', 'us'));
  waiting[0]?.();
  expect(await first).toMatchObject({ content: [{ text: 'went' }] });
  await expect(second).rejects.toThrow('Header mismatch');
});

test('if the caller leaves whose call looks for the tools, the next call looks for them', async () => {
  const { between, waiting } = proxyWithHeldList();
  const leaving = new AbortController();
  const first = between.dispatch(callOf('eu', 'eu', leaving)).catch(() => 'left');
  await until('the tools are looked for', () => waiting.length === 1);
  const [good, bad] = [between.dispatch(callOf('eu', 'eu')), between.dispatch(callOf('eu', 'us'))];
  bad.catch(() => undefined);
  leaving.abort();
  expect(await first).toBe('left');
  await until('the tools are looked for again', () => waiting.length === 2);
  waiting[1]?.();
  expect(await good).toMatchObject({ content: [{ text: 'went' }] });
  await expect(bad).rejects.toThrow('Header mismatch');
  expect(waiting).toHaveLength(2);
});
