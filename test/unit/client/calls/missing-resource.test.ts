import { expect, test } from 'vitest';
import { createServer } from '../../../../src/index.js';
import { testClient } from '../../../../src/testing.js';

const bank = createServer({ name: 'bank', version: '1', resources: {} });
bank.resource('a://b', {}, () => 'b');

test.each(['in-process', 'http', 'stdio'] as const)(
  'reading a missing resource fails with resource_not_found over %s',
  async (over) => {
    await using client = await testClient(bank, { over });
    await expect(client.readResource('a://nowhere')).rejects.toMatchObject({ code: 'resource_not_found' });
  },
);
