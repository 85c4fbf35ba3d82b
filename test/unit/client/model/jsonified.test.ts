import { createServer, tool } from 'fullmcp';
import { connect } from 'fullmcp/client';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import type { Jsonified } from '../../../../src/client/model/jsonified.js';

class Money {
  readonly cents: number;
  constructor(cents: number) {
    this.cents = cents;
  }
  add(other: Money): Money {
    return new Money(this.cents + other.cents);
  }
}

interface Tree {
  readonly at: Date;
  readonly children: readonly Tree[];
}

const rows = [{ at: new Date(0), price: new Money(250) }];
const state = { tags: ['a'] };
const server = createServer({
  name: 'rows',
  version: '1',
  tools: {
    rows: tool({ run: () => ({ rows }) }),
    state: tool({ run: () => state }),
    defaults: tool({
      output: z.object({ hours: z.number().default(1), note: z.string().optional() }),
      run: () => ({}),
    }),
  },
});

describe('a client that knows the type of its server', () => {
  it('gets values as JSON carries them, even in the same process', async () => {
    await using client = await connect<typeof server>(server);
    const [row] = (await client.tool.rows()).rows;
    expectTypeOf(row?.at).toEqualTypeOf<string | undefined>();
    expectTypeOf<keyof NonNullable<typeof row>['price']>().toEqualTypeOf<'cents'>();
    expect(row).toEqual({ at: '1970-01-01T00:00:00.000Z', price: { cents: 250 } });
    expect(row?.price).not.toBeInstanceOf(Money);
  });

  it("cannot change the server's own objects", async () => {
    await using client = await connect<typeof server>(server);
    const value = await client.tool.state();
    value.tags.push('x');
    expect(state.tags).toEqual(['a']);
    expect(await client.tool.state()).toEqual({ tags: ['a'] });
  });

  it('gets the defaults of an output schema', async () => {
    await using client = await connect<typeof server>(server);
    const value = await client.tool.defaults();
    expectTypeOf(value.hours).toEqualTypeOf<number>();
    expectTypeOf(value.note).toEqualTypeOf<string | undefined>();
    expect(value).toEqual({ hours: 1 });
  });
});

describe('the type of a value after JSON', () => {
  it('keeps JSON types', () => {
    expectTypeOf<Jsonified<{ a: 1; b?: string; c: [number, 'x'] }>>().toEqualTypeOf<{
      a: 1;
      b?: string;
      c: [number, 'x'];
    }>();
    expectTypeOf<Jsonified<readonly string[] | null>>().toEqualTypeOf<readonly string[] | null>();
    expectTypeOf<Jsonified<unknown>>().toEqualTypeOf<unknown>();
    expectTypeOf<Jsonified<{ a: unknown }>>().toEqualTypeOf<{ a: unknown }>();
  });

  it('has strings for dates, optional fields for undefined, and no functions', () => {
    expectTypeOf<Jsonified<{ at: Date; f: () => void; u: undefined }>>().toEqualTypeOf<{ at: string }>();
    expectTypeOf<Jsonified<{ a: number | undefined; b: 1 }>>().toEqualTypeOf<{ a?: number; b: 1 }>();
    expectTypeOf<Jsonified<(number | undefined)[]>>().toEqualTypeOf<(number | null)[]>();
    expectTypeOf<Jsonified<{ toJSON(): { a: Date } }>>().toEqualTypeOf<{ a: string }>();
  });

  it('is an explanatory sentence for a value that cannot be sent', () => {
    expectTypeOf<Jsonified<Map<string, number>>>().toBeString();
    expectTypeOf<Jsonified<{ n: bigint }>['n']>().toBeString();
  });

  it('is finite for types that contain themselves', () => {
    expectTypeOf<Jsonified<Tree>['children'][0]['children'][0]['at']>().toEqualTypeOf<string>();
  });
});
