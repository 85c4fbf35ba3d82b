// Mistakes that do not compile. Each is on one line, below the line that expects its error.
import { createServer, defineWith, prompt, resource, tool } from 'fullmcp';
import { connect } from 'fullmcp/client';
import { z } from 'zod';

const input = z.object({ id: z.string(), n: z.number().optional(), e: z.enum(['a', 'b']) });
const output = z.object({ id: z.string(), sky: z.enum(['clear', 'rain']) });
const nested = z.object({ at: z.object({ lat: z.number() }), rows: z.array(z.object({ key: z.string() })) });
const args = z.object({ code: z.string(), lang: z.enum(['ts', 'js']).optional() });
const idd = (): string[] => [];
const named = { name: 'mistakes', version: '1.0.0' };

// The same without mistakes, so that each error below comes from its own mistake.
const good = tool({
  input,
  output,
  run: ({ id, n = 1, e }) => ({ id, sky: n > 1 || e === 'a' ? 'clear' : 'rain' }),
});
const other = defineWith<{ state: { db: string }; user: undefined }>();
const needy = other.tool({ run: (_input, { state }) => state.db });

export const mistakes = [
  // @ts-expect-error 1. Reads a field that the input does not have.
  tool({ input, run: ({ idd }) => idd }),
  // @ts-expect-error 2. Uses an optional field as if it were always there.
  tool({ input, run: ({ n }) => n.toFixed() }),
  // @ts-expect-error 3. Compares an enum with a value that it cannot have.
  tool({ input, run: ({ e }) => e === 'c' }),
  // @ts-expect-error 4. Returns the wrong type in a field of the output.
  tool({ input, output, run: () => ({ id: 1, sky: 'clear' }) }),
  // @ts-expect-error 5. Returns a value that the enum of the output does not have.
  tool({ input, output, run: ({ id }) => ({ id, sky: 'purple' }) }),
  // @ts-expect-error 6. Leaves out a field of the output.
  tool({ input, output, run: ({ id }) => ({ id }) }),
  // @ts-expect-error 7. Adds a field that the output does not have.
  tool({ input, output, run: ({ id }) => ({ id, sky: 'clear', wind: 3 }) }),
  // @ts-expect-error 8. Returns only text although an output is declared.
  tool({ input, output, run: ({ id }) => id }),
  // @ts-expect-error 9. Misspells an option of the tool.
  tool({ input, anotations: {}, run: () => 1 }),
  // @ts-expect-error 10. Calls something that the context does not have.
  tool({ input, run: (_input, ctx) => ctx.elicitate('x') }),
  // @ts-expect-error 11. Gives the fields of the input without z.object.
  tool({ input: { id: z.string() }, run: () => 1 }),
  // @ts-expect-error 12. Calls the handler by another library's name.
  tool({ input, execute: () => 1 }),
  // @ts-expect-error 13. Reads a field of an input that was never declared.
  tool({ run: ({ a }) => a }),
  // @ts-expect-error 14. Gives a tool to a server without the state that it needs.
  createServer({ ...named, tools: { needy } }),
  // @ts-expect-error 15. Puts a prompt among the tools.
  createServer({ ...named, tools: { greet: prompt({ run: () => 'x' }) } }),
  // @ts-expect-error 16. Reads a variable that the template does not have.
  createServer({ ...named, resources: { 'users://{id}': resource({ read: ({ idd }) => idd }) } }),
  // @ts-expect-error 17. Uses a variable of a query as if it were always there.
  createServer({ ...named, resources: { 'users://all{?q}': resource({ read: ({ q }) => q.length }) } }),
  // @ts-expect-error 18. Completes an argument that the prompt does not have.
  prompt({ args: z.object({ code: z.string() }), complete: { cod: () => [] }, run: () => 'x' }),
  // @ts-expect-error 19. Reads a param that the method does not have.
  createServer({ ...named, methods: { 'a/b': { params: input, run: ({ idd }) => ({ idd }) } } }),
  // @ts-expect-error 23. Misspells a field of the output.
  tool({ input, output, run: ({ id }) => ({ ident: id, sky: 'clear' }) }),
  // @ts-expect-error 24. Leaves out a field of an object in the output.
  tool({ output: nested, run: () => ({ at: {}, rows: [] }) }),
  // @ts-expect-error 25. Returns a number for a string in an array of the output.
  tool({ output: nested, run: () => ({ at: { lat: 1 }, rows: [{ key: 1 }] }) }),
  // @ts-expect-error 26. Returns nothing although an output is declared.
  tool({ input, output, run: async () => {} }),
  // @ts-expect-error 27. Returns nothing in one of two branches.
  tool({ input, output, run: ({ id, n }) => (n === 1 ? { id, sky: 'rain' } : undefined) }),
  // @ts-expect-error 28. Reads ctx.user without a defineWith that says what it is.
  tool({ run: (_input, ctx) => ctx.user.account }),
  // @ts-expect-error 29. Reads an argument that the prompt does not have.
  prompt({ args, run: ({ cod }) => cod }),
  // @ts-expect-error 30. Compares an argument of a prompt with a value that it cannot have.
  prompt({ args, run: ({ lang }) => (lang === 'py' ? 'x' : 'y') }),
  // @ts-expect-error 31. Completes a variable that the template does not have.
  createServer({ ...named, resources: { 'a://{id}': resource({ complete: { idd }, read: () => 1 }) } }),
  // @ts-expect-error 32. Takes an exploded variable for a string.
  createServer({ ...named, resources: { 'a://{path*}': resource({ read: ({ path }) => path.trim() }) } }),
  // @ts-expect-error 33. Misspells an option of the server.
  createServer({ ...named, instruction: 'x' }),
  // @ts-expect-error 34. Opens the state without a generator.
  createServer({ ...named, lifespan: async () => ({ db: 1 }) }),
  // @ts-expect-error 35. Reads ctx.user in a method although the server has no context.
  createServer({ ...named, methods: { 'a/b': { run: (_params, { user }) => ({ length: user.length }) } } }),
  // @ts-expect-error 36. Reads a form without await.
  tool({ run: (_input, ctx) => ctx.ask('key', { message: 'Sure?', schema: input }).id }),
];

const server = createServer({ ...named, tools: { good, now: tool({ run: () => ({ at: new Date() }) }) } });

export async function calls(): Promise<unknown[]> {
  const client = await connect<typeof server>(server);
  return [
    (await client.tool.good({ id: 'x', e: 'a' })).sky,
    // @ts-expect-error 20. Takes a date for a date after JSON.
    (await client.tool.now()).at.getTime(),
    // @ts-expect-error 21. Sends an argument that the tool does not have.
    await client.tool.good({ id: 'x', e: 'a', f: 1 }),
    // @ts-expect-error 22. Sends arguments to a tool that has none.
    await client.tool.now({ nonsense: 1 }),
    // @ts-expect-error 37. Sends a number for a string.
    await client.tool.good({ id: 1, e: 'a' }),
    // @ts-expect-error 38. Reads a field that the output does not have.
    (await client.tool.good({ id: 'x', e: 'a' })).wind,
    // @ts-expect-error 39. Reads a field of the result without await.
    client.tool.good({ id: 'x', e: 'a' }).sky,
    // @ts-expect-error 40. Misspells an option of the call.
    await client.tool.good({ id: 'x', e: 'a' }, { timeout: 5 }),
  ];
}
