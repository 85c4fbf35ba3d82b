import { z } from 'zod';

export const echoInput = z.object({ text: z.string() });
export const echoDescription = 'Returns its text';

/** The names of the tools to register: the one that is called, and others that are never called. */
export function toolNames() {
  const count = Number(process.argv[2] ?? 1);
  return ['echo', ...Array.from({ length: count - 1 }, (_, index) => `tool_${index + 1}`)];
}
