import { expect, test } from 'vitest';
import { createServer } from '../../../../src/index.js';
import { testClient } from '../../../../src/testing.js';
import { until } from '../../../support/until.js';

const bank = createServer({ name: 'bank', version: '1', changes: true, resources: {} });
bank.resource('a://b', {}, () => 'b');

test('a change of a resource is one notification in either era', async () => {
  for (const revision of ['2026-07-28', '2025-11-25'] as const) {
    await using client = await testClient(bank, { over: 'websocket', revision });
    const methods: string[] = [];
    client.on('notification', ({ method }) => methods.push(method));
    const changes: unknown[] = [];
    await client.subscribe('a://b', { onChange: (change) => changes.push(change) });
    bank.changed.resource('a://b');
    await until('the change has arrived', () => changes.length === 1);
    expect(methods).toEqual(['notifications/resources/updated']);
  }
});
