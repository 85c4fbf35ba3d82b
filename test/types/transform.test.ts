import { createServer, tool } from 'fullmcp';
import { transform } from 'fullmcp/transform';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import type { Client } from '../../src/client/model/client.js';
import { inProcessClient } from '../support/in-process-client.js';

const definitions = {
  tools: {
    forecast: tool({
      input: z.object({ city: z.string(), days: z.int(), unit: z.string() }),
      run: ({ city, days, unit }) => ({ city, days, unit }),
    }),
    debug: tool({ run: () => 'debugged' }),
    plain: tool({ input: z.object({ a: z.number() }), run: ({ a }) => a }),
  },
};

const changes = {
  tools: {
    forecast: {
      name: 'weather',
      args: { city: { name: 'place' }, days: { default: 1 }, unit: { value: 'c' } },
    },
    debug: { hidden: true },
  },
} as const;

const own = createServer({ name: 'own', version: '1', ...transform(definitions, changes) });
const inner = createServer({ name: 'inner', version: '1', ...definitions });
const outer = createServer({ name: 'outer', version: '1', mount: { w: transform(inner, changes) } });

describe('a typed client of a transformed server', () => {
  it('knows the tools of changed definitions', async () => {
    await using client = (await inProcessClient(own)) as Client<typeof own>;
    const weather = await client.tool.weather({ place: 'Rome' });
    expectTypeOf(weather).toEqualTypeOf<{ city: string; days: number; unit: string }>();
    expect(weather).toEqual({ city: 'Rome', days: 1, unit: 'c' });
    expect(await client.tool.plain({ a: 1 })).toBe(1);
    expectTypeOf<keyof typeof client.tool>().toEqualTypeOf<'weather' | 'plain'>();
    expectTypeOf<Parameters<typeof client.tool.weather>[0]>().toEqualTypeOf<{
      place: string;
      days?: number;
    }>();
  });

  it('knows the tools of a changed server that is mounted', async () => {
    await using client = (await inProcessClient(outer)) as Client<typeof outer>;
    expect(await client.tool.w_weather({ place: 'Rome', days: 2 })).toEqual({
      city: 'Rome',
      days: 2,
      unit: 'c',
    });
    expectTypeOf<keyof typeof client.tool>().toEqualTypeOf<'w_weather' | 'w_plain'>();
  });

  it('does not compile with a tool or an argument that does not exist', () => {
    // @ts-expect-error There is no such tool.
    expect(() => transform(definitions, { tools: { forcast: { hidden: true } } })).toThrow();
    // @ts-expect-error There is no such argument.
    transform(definitions, { tools: { forecast: { args: { town: { hidden: true } } } } });
    // @ts-expect-error There is no such change.
    expect(() => transform(definitions, { tools: { forecast: { hide: 1 } }, every: 1 })).toThrow();
  });
});
