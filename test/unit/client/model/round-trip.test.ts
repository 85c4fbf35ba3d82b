import { expect, test } from 'vitest';
import { createServer, tool } from '../../../../src/index.js';
import { everyWire } from '../../../../src/testing.js';

test('a value that a tool returns arrives unchanged over every wire and revision', async () => {
  const values = {
    number: 42.5,
    text: '42.5',
    list: [1, 2],
    object: { a: { b: 1 } },
    nothing: null,
    yes: true,
  };
  const tools = Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, tool({ run: () => value })]),
  );
  await everyWire(createServer({ name: 'values', version: '1', tools }), async (client) => {
    for (const [name, value] of Object.entries(values))
      expect((await client.callTool(name)).unwrap(), name).toEqual(value);
  });
});
