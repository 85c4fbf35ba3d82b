// #region imperative
import { createServer } from 'fullmcp';
import { z } from 'zod';

const server = createServer({ name: 'math', version: '1.0.0' });

server.tool('add', { input: z.object({ a: z.number(), b: z.number() }) }, ({ a, b }) => a + b);
server.resource('config://app', { mimeType: 'application/json' }, () => ({ debug: true }));
server.resource('users://{id}/profile', {}, ({ id }) => ({ id }));
server.prompt('review', { args: z.object({ code: z.string() }) }, ({ code }) => `Review this:\n${code}`);
// #endregion

export default server;

// #region fluent
server
  .tool('subtract')
  .description('Subtracts two numbers')
  .input(z.object({ a: z.number(), b: z.number() }))
  .run(({ a, b }) => a - b);

server
  .resource('teams://{id}')
  .mimeType('application/json')
  .read(({ id }) => ({ id }));

server
  .prompt('explain')
  .args(z.object({ code: z.string() }))
  .run(({ code }) => `Explain this:\n${code}`);
// #endregion
