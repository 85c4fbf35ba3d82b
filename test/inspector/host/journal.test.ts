import { createServer, tool } from 'fullmcp';
import { connect } from 'fullmcp/client';
import { serve } from 'fullmcp/node';
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import demo from '../../../examples/demo/server.js';
import type { JournalEvent } from '../../../src/inspector/contract/options.js';
import { JournalGrid } from '../../../src/inspector/journal/journal-grid.js';
import { journalLine, newJournalMark, readJournalLine } from '../../../src/inspector/journal/journal-line.js';
import { listenToJournals } from '../../../src/inspector/journal/listen.js';
import { STORY } from '../../../src/protocol/tables/meta-keys.js';

const answers = { size: 'large', toppings: ['ham'], sure: true };

let stop: (() => void) | undefined;
afterEach(() => {
  stop?.();
  stop = undefined;
});

function collect(story: number): { grid: JournalGrid; events: JournalEvent[] } {
  const grid = new JournalGrid();
  const events: JournalEvent[] = [];
  stop = listenToJournals((event) => {
    if (event.story !== story) return;
    events.push(event);
    grid.add(event);
  });
  return { grid, events };
}

describe('the journal of a call', () => {
  for (const revision of ['2026-07-28', '2025-11-25'] as const)
    it(`shows in ${revision} that the step of order_pizza ran once and was known afterwards`, async () => {
      const { grid } = collect(17);
      await using serving = await serve(demo, { port: 0, signals: false });
      await using client = await connect(serving.url, {
        revision,
        elicit: () => ({ action: 'accept', content: answers }),
      });
      await client.callTool('order_pizza', {}, { meta: { [STORY]: 17 } });
      const { runs, rows } = grid.view() ?? { runs: [], rows: [] };
      expect(runs).toEqual([{ outcome: 'asks' }, { outcome: 'asks' }, { outcome: 'returned' }]);
      expect(rows.map(({ kind, key, cells }) => [kind, key, ...cells])).toEqual([
        ['ask', 'pizza', 'asked', 'known', 'known'],
        ['step', 'reserve', 'none', 'ran', 'known'],
        ['ask', 'sure', 'none', 'asked', 'known'],
        ['return', 'return', 'none', 'none', 'returned'],
      ]);
      const step = rows[1];
      expect(step?.idempotencyKey).toMatch(/:reserve$/);
      expect(step?.value).toMatch(/^\d+$/);
      expect(step?.warning).toBeUndefined();
    });

  it('shows a step that throws', async () => {
    const server = createServer({
      name: 'throws',
      version: '1',
      tools: {
        pay: tool({
          run: async (_, ctx) => {
            await ctx.step('charge', () => {
              throw new Error('The card was declined');
            });
          },
        }),
      },
    });
    const { grid, events } = collect(1);
    await using client = await connect(server);
    await client.callTool('pay', {}, { meta: { [STORY]: 1 } }).catch(() => undefined);
    expect(grid.view()?.rows.map(({ key, cells }) => [key, ...cells])).toEqual([
      ['charge', 'threw'],
      ['return', 'threw'],
    ]);
    expect(events[0]).toMatchObject({ kind: 'step', value: 'The card was declined' });
    expect(events[0]?.ms).toBeGreaterThanOrEqual(0);
  });

  it('shows the key that a handler which is not deterministic has missed', async () => {
    let runs = 0;
    const server = createServer({
      name: 'random',
      version: '1',
      tools: {
        guess: tool({
          run: async (_, ctx) => {
            const key = runs++ === 0 ? 'first' : 'other';
            await ctx.ask(key, { message: 'Well?', schema: z.object({ sure: z.boolean() }) });
            return 'done';
          },
        }),
      },
    });
    const { grid } = collect(2);
    await using client = await connect(server, {
      elicit: () => ({ action: 'accept', content: { sure: true } }),
    });
    await expect(client.callTool('guess', {}, { meta: { [STORY]: 2 } })).rejects.toThrow(
      /did not reach "first"/,
    );
    const view = grid.view();
    expect(view?.rows[0]).toMatchObject({ kind: 'ask', key: 'first', cells: ['asked', 'none'] });
    expect(view?.rows[0]?.warning).toMatch(/An earlier run met this key/);
    expect(view?.runs.at(-1)?.outcome).toBe('threw');
  });

  it('makes nothing if nobody listens', async () => {
    const { events } = collect(3);
    stop?.();
    await using client = await connect(demo, { elicit: () => ({ action: 'accept', content: answers }) });
    await client.callTool('order_pizza', {}, { meta: { [STORY]: 3 } });
    expect(events).toEqual([]);
  });
});

describe('lines of a journal on stderr', () => {
  const event: JournalEvent = { run: 1, story: 1, kind: 'step', key: 'k', cell: 'ran' };

  it('are read back, and separated from what the program wrote before them', () => {
    const mark = newJournalMark();
    const line = journalLine(mark, event).trimEnd();
    expect(readJournalLine(mark, line)).toEqual({ event });
    expect(readJournalLine(mark, `half a line ${line}`)).toEqual({ event, text: 'half a line ' });
    expect(readJournalLine(mark, 'an ordinary line')).toEqual({ text: 'an ordinary line' });
  });

  it('do not count if they have another mark, cannot be read, or are too long', () => {
    const mark = newJournalMark();
    const other = journalLine(newJournalMark(), event);
    expect(readJournalLine(mark, other)).toEqual({ text: other });
    expect(readJournalLine(mark, `${mark} {"run":1,"story":"x"}`)).toEqual({});
    expect(readJournalLine(mark, `${mark} {not json`)).toEqual({});
    expect(readJournalLine(mark, journalLine(mark, { ...event, value: 'x'.repeat(5000) }))).toEqual({});
  });
});
