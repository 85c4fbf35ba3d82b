import { createServer, prompt, resource, tool } from 'fullmcp';
import { expect, test } from 'vitest';
import { z } from 'zod';

// Mistakes of newcomers who have no compiler to report them.

const identity = { name: 'new', version: '1.0.0' };

test.each([
  [
    'an array',
    { tools: [tool({ run: () => 1 })] },
    '"tools" must be an object with the names as keys, not an array',
  ],
  ['no tool()', { tools: { add: { run: () => 1 } } }, 'make one with tool({ … })'],
  ['a prompt among the tools', { tools: { p: prompt({ run: () => '' }) } }, 'make one with tool({ … })'],
  ['a tool among the prompts', { prompts: { t: tool({ run: () => 1 }) } }, 'make one with prompt({ … })'],
  ['a path for a URI', { resources: { config: resource({ read: () => 1 }) } }, 'an absolute URI'],
  // @ts-expect-error An object of schemas is not a schema; in JavaScript the sentence has to say so.
  ['no z.object', { tools: { add: tool({ input: { a: z.number() }, run: () => 1 }) } }, 'z.object({ … })'],
])('createServer explains a typical mistake: %s', (_, definitions, sentence) => {
  expect(() => createServer({ ...identity, ...definitions } as never)).toThrow(sentence);
});
