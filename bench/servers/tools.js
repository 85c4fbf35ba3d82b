import { z } from 'zod';

export const echoInput = z.object({ text: z.string() });
export const echoDescription = 'Says what it is told';

/** The names of the tools to register: the one that is called, and others that are only there. */
export function toolNames() {
  const count = Number(process.argv[2] ?? 1);
  return ['echo', ...Array.from({ length: count - 1 }, (_, index) => `tool_${index + 1}`)];
}
