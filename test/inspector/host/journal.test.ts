import { createServer, tool } from 'fullmcp';
import { connect } from 'fullmcp/client';
import { serve } from 'fullmcp/node';
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { JournalEvent } from '../../../src/inspector/contract/options.js';
import { journalLine, newJournalMark, readJournalLine } from '../../../src/inspector/journal/journal-line.js';
import { listenToJournals } from '../../../src/inspector/journal/listen-to-journals.js';
import { STORY } from '../../../src/protocol/tables/meta-keys.js';
import { ownDemo } from '../../support/examples/demo.js';

const demo = await ownDemo();

const answers = { size: 'large', toppings: ['ham'], sure: true };

let stop: (() => void) | undefined;
afterEach(() => {
  stop?.();
  stop = undefined;
});

/** The rows that the events of a story make: the kind, the key, and the cell of each run. */
function collect(story: number): { rows: () => string[][]; events: JournalEvent[] } {
  const events: JournalEvent[] = [];
  stop = listenToJournals((event) => {
    if (event.story === story) events.push(event);
  });
  const rows = (): string[][] => {
    const last = Math.max(...events.map(({ run }) => run));
    const names = [...new Set(events.map(({ kind, key }) => `${kind} ${key}`))];
    return names.map((name) => {
      const cells = Array.from({ length: last }, () => 'none');
      for (const { kind, key, run, cell } of events) if (`${kind} ${key}` === name) cells[run - 1] = cell;
      return [name, ...cells];
    });
  };
  return { rows, events };
}

describe('the journal of a call', () => {
  for (const revision of ['2026-07-28', '2025-11-25'] as const)
    it(`shows in ${revision} that the step of order_pizza ran once and was known afterwards`, async () => {
      const { rows, events } = collect(17);
      await using serving = await serve(demo, { port: 0, signals: false });
      await using client = await connect(serving.url, {
        revision,
        elicit: () => ({ action: 'accept', content: answers }),
      });
      await client.callTool('order_pizza', {}, { meta: { [STORY]: 17 } });
      expect(rows()).toEqual([
        ['ask pizza', 'asked', 'known', 'known'],
        ['step reserve', 'none', 'ran', 'known'],
        ['ask sure', 'none', 'asked', 'known'],
        ['return return', 'none', 'none', 'returned'],
      ]);
      const step = events.find(({ cell }) => cell === 'ran');
      expect(step?.idempotencyKey).toMatch(/:reserve$/);
      expect(step?.value).toMatch(/^\d+$/);
      expect(step?.ms).toBeGreaterThanOrEqual(0);
      expect(events.filter(({ warning }) => warning !== undefined)).toEqual([]);
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
    const { rows, events } = collect(1);
    await using client = await connect(server);
    await client.callTool('pay', {}, { meta: { [STORY]: 1 } }).catch(() => undefined);
    expect(rows()).toEqual([
      ['step charge', 'threw'],
      ['return return', 'threw'],
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
    const { rows } = collect(2);
    await using client = await connect(server, {
      elicit: () => ({ action: 'accept', content: { sure: true } }),
    });
    await expect(client.callTool('guess', {}, { meta: { [STORY]: 2 } })).rejects.toThrow(
      /did not reach "first"/,
    );
    expect(rows()).toEqual([
      ['ask first', 'asked', 'none'],
      ['ask other', 'none', 'asked'],
      ['return return', 'none', 'threw'],
    ]);
  });

  it('shows a question that is not the one that was answered', async () => {
    let runs = 0;
    const server = createServer({
      name: 'changing',
      version: '1',
      tools: {
        offer: tool({
          run: async (_, ctx) => {
            const price = runs++ === 0 ? 10 : 12;
            await ctx.ask('buy', { message: `Buy for ${price}?`, schema: z.object({ sure: z.boolean() }) });
            return 'done';
          },
        }),
      },
    });
    const { rows, events } = collect(4);
    await using client = await connect(server, {
      elicit: () => ({ action: 'accept', content: { sure: true } }),
    });
    await client.callTool('offer', {}, { meta: { [STORY]: 4 } });
    expect(rows()[0]).toEqual(['ask buy', 'asked', 'asked', 'known']);
    expect(events[1]?.warning).toMatch(/not the one that was answered/);
  });

  it('follows a call into its task', async () => {
    const server = createServer({
      name: 'bakery',
      version: '1',
      tools: {
        bake: tool({
          task: { support: 'required', pollIntervalMs: 10 },
          run: async (_, ctx) => {
            await ctx.step('mix', () => 'dough');
            const { crust } = await ctx.ask('crust', {
              message: 'Which?',
              schema: z.object({ crust: z.string() }),
            });
            return `A ${crust} bread`;
          },
        }),
      },
    });
    const { rows } = collect(5);
    await using client = await connect(server, {
      elicit: () => ({ action: 'accept', content: { crust: 'golden' } }),
    });
    await client.callTool('bake', {}, { meta: { [STORY]: 5 } });
    expect(rows().map(([name]) => name)).toEqual(['step mix', 'ask crust', 'return return']);
    expect(rows()[0]).toContain('ran');
    expect(rows()[2]).toContain('returned');
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
