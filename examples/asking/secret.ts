import { createServer, type ServerOptions, tool } from 'fullmcp';
import { z } from 'zod';

const tools = {
  ask: tool({
    run: async (_input, ctx) =>
      ctx.ask('name', { message: 'Who are you?', schema: z.object({ name: z.string() }) }),
  }),
};
const identity: ServerOptions<undefined, undefined> = { name: 'secrets', version: '1.0.0' };

// #region rotate
/** The first secret encrypts. All of them decrypt. */
export function build(secrets: readonly string[]) {
  return createServer({ ...identity, tools, secret: secrets });
}
// #endregion

// #region limits
export const strict = createServer({
  ...identity,
  tools,
  secret: process.env['MCP_SECRET'] ?? 'only for the examples: not a secret',
  asking: {
    maxAgeMs: 10 * 60_000, // a client has ten minutes to answer
    maxBytes: 16_384, // all answers and step results of a run together
    once: true, // each state can be used only once
  },
});
// #endregion
