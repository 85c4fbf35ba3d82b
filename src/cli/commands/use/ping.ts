import type { Command } from '../../command/definition.js';
import { wholeNumber } from '../../command/parse.js';
import { withTarget } from '../../target/open.js';
import { TARGET_OPTIONS } from '../../target/options.js';

/** `fullmcp ping`. */
export const ping: Command = {
  usage: '<target>',
  words: [1, 1],
  options: {
    ...TARGET_OPTIONS,
    count: { type: 'string', value: 'n', help: 'the number of requests, 1 to 1000; default 4' },
  },
  examples: [
    {
      line: 'fullmcp ping http://localhost:3000/mcp',
      says: 'Sends four requests and prints the time of each.',
    },
  ],
  json: '{ ok: true, ms: number[] }',
  run: (input) =>
    withTarget(input, async ({ client }) => {
      const count = wholeNumber(input, 'count', [1, 1000]) ?? 4;
      const ms: number[] = [];
      for (let n = 0; n < count; n++) {
        const taken = await client.ping({ signal: input.signal });
        ms.push(Number(taken.toFixed(3)));
        input.out.value(`${taken.toFixed(2)} ms`);
      }
      input.out.json({ ok: true, ms });
    }),
};
