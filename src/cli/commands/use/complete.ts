import type { Command } from '../../command/definition.js';
import { usageError } from '../../command/failures.js';
import { withTarget } from '../../target/open.js';
import { TARGET_OPTIONS } from '../../target/options.js';

/** `fullmcp complete`. */
export const complete: Command = {
  usage: '<target> prompt|resource <name> <argument> [value]',
  details: 'The name is that of a prompt, or the URI template of a resource as it is listed.',
  words: [4, 5],
  options: {
    with: {
      type: 'string',
      multiple: true,
      value: 'name=value',
      help: 'another argument that is already filled in',
    },
    ...TARGET_OPTIONS,
  },
  examples: [
    {
      line: 'fullmcp complete http://localhost:3000/mcp prompt explain topic b',
      says: 'Prints the topics that begin with b.',
    },
    {
      line: "fullmcp complete ./server.ts resource 'notes://{id}' id",
      says: 'Prints values for a variable of a template.',
    },
  ],
  json: '{ ok: true, values: string[], total?: number, hasMore: boolean }',
  run: (input) =>
    withTarget(input, async ({ client, words: [kind = '', name = '', argument = '', value = ''] }) => {
      if (kind !== 'prompt' && kind !== 'resource')
        throw usageError(`An argument belongs to a prompt or a resource, not to ${JSON.stringify(kind)}.`);
      const filled = Object.fromEntries(input.texts('with').map(split));
      const { values, total, hasMore } = await client.complete(
        { ...(kind === 'prompt' ? { prompt: name } : { template: name }), argument, value, filled },
        { signal: input.signal },
      );
      input.out.json({ ok: true, values, ...(total !== undefined && { total }), hasMore });
      for (const one of values) input.out.value(one.replaceAll('\n', ' '));
      if (hasMore && !input.out.isJson)
        input.out.note(total === undefined ? 'There are more.' : `There are ${total} in all.`);
    }),
};

function split(text: string): readonly [string, string] {
  const at = text.indexOf('=');
  if (at > 0) return [text.slice(0, at), text.slice(at + 1)];
  throw usageError(`--with needs name=value, not ${JSON.stringify(text)}.`);
}
