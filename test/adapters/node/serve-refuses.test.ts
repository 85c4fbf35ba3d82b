import { createServer } from 'fullmcp';
import { serve } from 'fullmcp/node';
import { expect, test } from 'vitest';

const server = createServer({ name: 'quiet', version: '1.0.0' });

test('a short secret rejects, it does not throw', async () => {
  await expect(serve(server, { port: 0, secret: 'short' })).rejects.toThrow('at least 32 characters');
});

test('a port that is taken is said in a sentence', async () => {
  await using first = await serve(server, { port: 0, signals: false });
  await expect(serve(server, { port: first.port })).rejects.toThrow(
    `Port ${first.port} is taken. Choose another with PORT or { port }.`,
  );
});
