import process from 'node:process';
import { connect } from 'fullmcp/client';
import { describe, expect, it } from 'vitest';
import { newJournalMark, readJournalLine } from '../../../src/inspector/journal/journal-line.js';
import { STORY } from '../../../src/protocol/tables/meta-keys.js';

const answers = { size: 'large', toppings: ['ham'], sure: true };

/** Calls order_pizza of the demo, which `fullmcp run` serves. Returns the lines on its stderr. */
async function linesOf(
  env: Readonly<Record<string, string>>,
  meta: Readonly<Record<string, unknown>> = { [STORY]: 3 },
): Promise<readonly string[]> {
  const lines: string[] = [];
  const args = ['dist/cli/fullmcp.js', 'run', 'examples/demo/server.ts'];
  await using client = await connect(
    { command: process.execPath, args, env: { MCP_SECRET: 'x'.repeat(40), ...env } },
    { stderr: (line) => lines.push(line), elicit: () => ({ action: 'accept', content: answers }) },
  );
  await client.callTool('order_pizza', {}, { meta });
  return lines;
}

describe('a server that the inspector starts', () => {
  it('reports the steps of its handlers on stderr, in lines with the mark', async () => {
    const mark = newJournalMark();
    const lines = await linesOf({ FULLMCP_JOURNAL: mark });
    const events = lines.flatMap((line) => readJournalLine(mark, line).event ?? []);
    expect(events.map(({ story, run, kind, key, cell }) => [story, run, kind, key, cell])).toEqual([
      [3, 1, 'ask', 'pizza', 'asked'],
      [3, 2, 'ask', 'pizza', 'known'],
      [3, 2, 'step', 'reserve', 'ran'],
      [3, 2, 'ask', 'sure', 'asked'],
      [3, 3, 'ask', 'pizza', 'known'],
      [3, 3, 'step', 'reserve', 'known'],
      [3, 3, 'ask', 'sure', 'known'],
      [3, 3, 'return', 'return', 'returned'],
    ]);
  });

  it.each([
    ['without the variable', {}, { [STORY]: 3 }],
    ['with a mark that the inspector did not make', { FULLMCP_JOURNAL: 'yes' }, { [STORY]: 3 }],
    ['in production', { FULLMCP_JOURNAL: newJournalMark(), NODE_ENV: 'production' }, { [STORY]: 3 }],
    ['for a call that is not the inspector’s', { FULLMCP_JOURNAL: newJournalMark() }, {}],
  ])('reports nothing %s', async (_, env, meta) => {
    const lines = await linesOf(env as Readonly<Record<string, string>>, meta);
    expect(lines.filter((line) => line.includes('reserve'))).toEqual([]);
  });
});
