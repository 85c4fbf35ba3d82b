import type { Client } from '../../../client/model/client.js';
import { McpError } from '../../../protocol/errors.js';
import type { Command, Typed } from '../../command/definition.js';
import { wholeNumber } from '../../command/parse.js';
import { withTarget } from '../../target/open.js';
import { TARGET_OPTIONS } from '../../target/options.js';
import type { Output } from '../../terminal/output.js';
import { wrapLine } from '../../terminal/wrap.js';

/** `fullmcp info`. */
export const info: Command = {
  usage: '<target>',
  details:
    'Connects, prints what the server says about itself, and measures the round trip of a small request. `fullmcp ping` is the same command.',
  words: [1, 1],
  options: {
    ...TARGET_OPTIONS,
    count: { type: 'string', value: 'n', help: 'the number of round trips, 1 to 1000; default 1' },
  },
  examples: [
    {
      line: 'fullmcp info http://localhost:3000/mcp',
      says: 'Its name, version, revision, features and instructions, and a round trip.',
    },
    { line: 'fullmcp ping http://localhost:3000/mcp --count 4', says: 'The same, with four round trips.' },
  ],
  json: '{ ok: true, name?: string, version?: string, title?: string, revision: string, transport: string, capabilities: object, instructions?: string, ms: number[] }; ms has the round trips, and is empty if the server does not know ping',
  run: (input) =>
    withTarget(input, async ({ client }) => {
      const { out } = input;
      const ms = await roundTrips(client, input);
      const { info: self, capabilities, instructions, revision } = client.server;
      const { transport } = client.info();
      out.json({
        ok: true,
        ...self,
        revision,
        transport,
        capabilities,
        ...(instructions && { instructions }),
        ms,
      });
      const features = Object.keys(capabilities).filter((name) => name !== 'extensions');
      const extensions = Object.keys((capabilities['extensions'] as object | undefined) ?? {});
      const rows: readonly (readonly [string, string | undefined])[] = [
        ['name', self && [self.title ?? self.name, self.version].filter(Boolean).join(' ')],
        ['speaks', `MCP ${revision} over ${transport}`],
        ['has', features.join(', ')],
        ['extensions', extensions.join(', ')],
        ['round trip', ms.map((one) => `${one.toFixed(2)} ms`).join(', ')],
        ['instructions', instructions],
      ];
      for (const [name, value] of rows) if (value) out.styled(fact(name, value, out));
    }),
};

/** The times of small requests. A server that does not know them has none. */
async function roundTrips(client: Client, input: Typed): Promise<readonly number[]> {
  const count = wholeNumber(input, 'count', [1, 1000]) ?? 1;
  const ms: number[] = [];
  try {
    while (ms.length < count) ms.push(Number((await client.ping({ signal: input.signal })).toFixed(3)));
  } catch (error) {
    if (!McpError.is(error) || error.code !== 'method_not_found') throw error;
  }
  return ms;
}

/** A name, and the lines of its value beside it. */
function fact(name: string, value: string, out: Output): string {
  const indent = ' '.repeat(14);
  const [first = '', ...others] = value.split('\n').map((line) => out.style('bold', line));
  return [out.style('dim', name.padEnd(14)) + first, ...others.map((line) => indent + line)]
    .map((line) => wrapLine(line, out.width, indent))
    .join('\n');
}
