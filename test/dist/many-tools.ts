/**
 * The source of a server with `count` tools, and the same schemas with plain typed handlers and nothing of the library: exported
 * as they are, and as the functions that a client calls.
 */
export function manyTools(count: number): Readonly<Record<'tools' | 'plain' | 'functions', string>> {
  const shapes = Array.from({ length: count }, (_, i) => ({ i, ...(SHAPES[i % SHAPES.length] as Shape)(i) }));
  const tools = shapes.map(({ i, input, output, run }) => {
    const schemas = `${input ? `input: ${input}, ` : ''}${output ? `output: ${output}, ` : ''}`;
    return `    tool${i}: tool({ ${schemas}run: ${run} }),`;
  });
  const plain = shapes.map(({ i, input, output, run }) => {
    const schemas = `${input ? `const input${i} = ${input};\n` : ''}${output ? `const output${i} = ${output};\n` : ''}`;
    const given = input ? `input: z.output<typeof input${i}>` : '';
    const returned = output ? `z.input<typeof output${i}>` : 'number';
    return `${schemas}const run${i}: (${given}) => ${returned} | Promise<${returned}> = ${run};`;
  });
  const listed = shapes.map(
    ({ i, input, output }) =>
      `  tool${i}: { ${input ? `input: input${i}, ` : ''}${output ? `output: output${i}, ` : ''}run: run${i} },`,
  );
  const functions = shapes.map(({ i, input, output }) => {
    const sent = input ? `input${i}` : 'z.record(z.string(), z.never())';
    return `  tool${i}: called(${sent}, ${output ? `output${i}` : 'z.number()'}, run${i}),`;
  });
  return {
    tools: `import { createServer, tool } from 'fullmcp';
import { z } from 'zod';

export const server = createServer({
  name: 'many',
  version: '1.0.0',
  tools: {
${tools.join('\n')}
  },
});
`,
    plain: `import { z } from 'zod';

${plain.join('\n')}
export const tools = {
${listed.join('\n')}
};
`,
    functions: `import { z } from 'zod';

// A constraint of z.ZodType would nearly double the count.
interface Typed { readonly _zod: { readonly input: unknown; readonly output: unknown } }
declare function called<In extends Typed, Out extends Typed>(
  input: In,
  output: Out,
  run: unknown,
): (args: In['_zod']['input']) => Out['_zod']['output'];

${plain.join('\n')}
export const tools = {
${functions.join('\n')}
};
`,
  };
}

type Shape = (i: number) => { readonly input?: string; readonly output?: string; readonly run: string };

const SHAPES: readonly Shape[] = [
  (i) => ({
    input: `z.object({ a: z.number().int(), b: z.number().optional(), unit: z.enum(['c', 'f']).default('c') })`,
    run: `({ a, b = ${i}, unit }) => (unit === 'c' ? a + b : a - b)`,
  }),
  (i) => ({
    input: `z.object({ query: z.string().min(1).max(${i + 10}), sort: z.enum(['asc', 'desc', 'none']).default('none'), filters: z.array(z.object({ field: z.string(), op: z.enum(['eq', 'lt', 'gt']), value: z.number() })), page: z.object({ size: z.number().default(10), from: z.number().optional() }) })`,
    output: `z.object({ rows: z.array(z.object({ id: z.string(), kind: z.enum(['new', 'old']), score: z.number() })), order: z.enum(['asc', 'desc', 'none']), total: z.number().default(0) })`,
    run: `({ query, sort, filters, page }) => ({ rows: filters.map(({ field }) => ({ id: field + query, kind: 'new', score: page.size })), order: sort === 'none' ? 'asc' : sort })`,
  }),
  () => ({
    input: `z.object({ id: z.string(), days: z.number().int().default(3), zone: z.string().optional(), detail: z.boolean() })`,
    output: `z.object({ id: z.string(), sky: z.enum(['clear', 'rain', 'snow']), at: z.tuple([z.number(), z.number()]), source: z.literal('station'), owner: z.object({ name: z.string() }).nullable() })`,
    run: `({ id, days }) => ({ id, sky: days > 3 ? 'rain' : 'clear', at: [days, 2], source: 'station', owner: null })`,
  }),
  () => ({
    input: `z.object({ shape: z.discriminatedUnion('kind', [z.object({ kind: z.literal('circle'), radius: z.number() }), z.object({ kind: z.literal('square'), side: z.number() }), z.object({ kind: z.literal('named'), name: z.string() })]), scale: z.number(), labels: z.array(z.string()) })`,
    output: `z.discriminatedUnion('kind', [z.object({ kind: z.literal('area'), area: z.number(), parts: z.array(z.tuple([z.literal('x'), z.number()])) }), z.object({ kind: z.literal('unknown'), reason: z.enum(['named', 'empty']) })])`,
    run: `({ shape, scale }) => { if (shape.kind === 'named') return { kind: 'unknown', reason: 'named' }; return { kind: 'area', area: scale * (shape.kind === 'circle' ? shape.radius : shape.side), parts: [['x', 1]] }; }`,
  }),
  (i) => ({
    input: `z.object({ path: z.string(), depth: z.number().int().max(${i + 1}), follow: z.boolean().default(false), filter: z.union([z.string(), z.object({ glob: z.string(), not: z.array(z.string()) })]), mode: z.enum(['list', 'tree']), tags: z.record(z.string(), z.string()), since: z.number().optional(), owner: z.object({ name: z.string(), id: z.number() }) })`,
    output: `z.object({ state: z.literal('done'), entries: z.array(z.object({ name: z.string(), type: z.enum(['file', 'folder']) })) })`,
    run: `async ({ path, mode }) => ({ state: 'done', entries: [{ name: path, type: mode === 'list' ? 'file' : 'folder' }] })`,
  }),
  (i) => ({
    output: `z.object({ state: z.enum(['up', 'down']), version: z.literal(${i}), since: z.tuple([z.number(), z.literal('s')]) })`,
    run: `() => ({ state: 'up', version: ${i}, since: [1, 's'] })`,
  }),
];
