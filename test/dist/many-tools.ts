/** The source of a server with `count` tools of five shapes, as a large team would have written it, and of a client that calls each. */
export function manyTools(count: number): string {
  const tools = Array.from({ length: count }, (_, i) => `    tool${i}: ${SHAPES[i % SHAPES.length]?.(i)},`);
  const calls = Array.from(
    { length: count },
    (_, i) => `  await client.tool.tool${i}(${ARGUMENTS[i % ARGUMENTS.length]});`,
  );
  return `import { createServer, tool } from 'fullmcp';
import { connect } from 'fullmcp/client';
import { z } from 'zod';

export const server = createServer({
  name: 'many',
  version: '1.0.0',
  tools: {
${tools.join('\n')}
  },
});

export async function main(): Promise<number> {
  const client = await connect<typeof server>(server);
${calls.join('\n')}
  return client.tool.tool0({ a: 1 });
}
`;
}

const SHAPES: readonly ((i: number) => string)[] = [
  (i) => `tool({
      description: 'Adds ${i}',
      input: z.object({ a: z.number().int(), b: z.number().optional() }),
      run: ({ a, b = ${i} }) => a + b,
    })`,
  (i) => `tool({
      input: z.object({
        query: z.string().min(1).max(${i + 10}),
        sort: z.enum(['asc', 'desc', 'none']).default('none'),
        filters: z.array(z.object({ field: z.string(), op: z.enum(['eq', 'lt', 'gt']), value: z.unknown() })),
      }),
      run: ({ query, sort, filters }) => \`\${query} \${sort} \${filters.map(({ field }) => field.length).join()}\`,
    })`,
  () => `tool({
      input: z.object({ id: z.string().uuid() }),
      output: z.object({ id: z.string(), tags: z.array(z.string()), owner: z.object({ name: z.string() }).nullable() }),
      run: ({ id }) => ({ id, tags: ['x'], owner: null }),
    })`,
  () => `tool({
      input: z.object({
        shape: z.discriminatedUnion('kind', [
          z.object({ kind: z.literal('circle'), radius: z.number() }),
          z.object({ kind: z.literal('square'), side: z.number() }),
          z.object({ kind: z.literal('named'), name: z.string() }),
        ]),
      }),
      run: ({ shape }) => (shape.kind === 'circle' ? shape.radius : shape.kind === 'square' ? shape.side : shape.name.length),
    })`,
  (i) => `tool({
      input: {
        type: 'object',
        properties: { path: { type: 'string' }, depth: { type: 'integer', maximum: ${i} } },
        required: ['path'],
      },
      run: () => 'done',
    })`,
];

const ARGUMENTS: readonly string[] = [
  '{ a: 1 }',
  "{ query: 'x', filters: [{ field: 'f', op: 'eq', value: 1 }] }",
  "{ id: 'x' }",
  "{ shape: { kind: 'circle', radius: 1 } }",
  "{ path: '.' }",
];
