import { createServer, prompt, tool } from 'fullmcp';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { HOSTILE, served, UNSAFE } from '../check/support.js';
import { Told } from '../project/told.js';
import { fullmcp, type Ran } from '../support/run-cli.js';

// A server that wants to command the terminal of the person whom it asks, or to look like something else.

const SPOOFED = `${'which one of all of them '.repeat(4)}$ rm -rf ~ `.repeat(5);

const url = await served(
  createServer({
    name: 'shop',
    version: '1.0.0',
    logger: () => undefined,
    tools: {
      choose: tool({
        run: async (_, { ask, progress, log }) => {
          progress(1, 2, HOSTILE);
          log.error(HOSTILE);
          const { size } = await ask('size', {
            message: 'Which size?',
            schema: {
              type: 'object',
              properties: {
                size: {
                  type: 'string',
                  title: HOSTILE,
                  oneOf: [
                    { const: `small${HOSTILE}`, title: HOSTILE },
                    { const: 'large', title: `${HOSTILE}large` },
                  ],
                },
                [`note${HOSTILE}`]: { type: 'string', default: HOSTILE, description: HOSTILE },
              },
              required: ['size'],
            },
          });
          return `one ${String(size)}`;
        },
      }),
      spoof: tool({
        run: async (_, { ask }) => {
          const message = `${SPOOFED}\n$ sudo rm\n${SPOOFED}\r\n\tshop> call`;
          await ask('it', { message, schema: z.object({ ok: z.boolean() }) });
          return 'spoofed';
        },
      }),
      visit: tool({
        run: async (_, { elicit }) => {
          const { action } = await elicit('page', {
            message: 'Visit https://example.com to go on.',
            url: 'https://example.com@evil.example:8443/%1b[2J?to=https://example.com',
          });
          return action;
        },
      }),
    },
    prompts: {
      explain: prompt({
        args: z.object({ topic: z.string().describe(HOSTILE) }),
        complete: { topic: () => [`bread${HOSTILE}`, 'bridges'] },
        run: () => HOSTILE,
      }),
    },
  }),
);

/** The text that was printed, without the codes that the command itself draws and colours with. */
function printed({ stdout, stderr }: Ran): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the codes of the command
  return (stdout + stderr).replaceAll(/\u001b\[(?:(?:[0-79]|[1-9]\d)m|2K|0J|1G|\d+[GCD])/g, '');
}

/** Types a line each time that the command asks for something that matches. */
function at(
  words: readonly string[],
  columns: number,
  ...steps: readonly (readonly [RegExp, string])[]
): Promise<Ran> {
  const told = new Told();
  async function* keys(): AsyncGenerator<string> {
    for (const [asked, key] of steps) {
      await told.next(asked);
      yield key;
    }
  }
  return fullmcp(words, { terminal: true, columns, keys: keys(), onStderr: told.set });
}

describe('a question of a hostile server', () => {
  it('cannot command the terminal with its choices, their titles, its defaults, its progress and its log', async () => {
    const asked = await at(
      ['call', url, 'choose', '--log', 'debug'],
      80,
      [/size \(required\).*> /, 'huge\n'],
      [/is not a choice[\s\S]*> /, 'large\n'],
      [/note.*> /, '\n'],
    );
    expect([asked.exit, asked.stdout]).toEqual([0, 'one large\n']);
    for (const character of UNSAFE) expect(printed(asked)).not.toContain(character);
    const unasked = await fullmcp(['call', url, 'choose']);
    expect(unasked.exit).toBe(5);
    for (const character of UNSAFE) expect(unasked.stdout + unasked.stderr).not.toContain(character);
  });

  it.each([40, 80])(
    'does not look like another prompt at %i columns: its lines are indented',
    async (columns) => {
      const asked = await at(['call', url, 'spoof'], columns, [/ok \(required\).*> /, '\u0003']);
      expect(asked.exit).toBe(130);
      const lines = printed(asked).split('\n');
      const first = lines.findIndex((line) => line.includes('spoof asks: which one'));
      const last = lines.findIndex((line) => line.includes('Ctrl+D declines'));
      expect(last - first).toBeGreaterThan(10);
      const others = lines.slice(first + 1, last);
      expect(others.filter((line) => !line.startsWith('    '))).toEqual([]);
      expect(others.filter((line) => line.length > columns)).toEqual([]);
    },
  );

  it('names the host that a page is really on, and shows its whole address', async () => {
    const asked = await at(['call', url, 'visit'], 80, [/open (.*) in the browser\? {2}y\/n > /, 'n\n']);
    expect(asked.stdout).toBe('decline\n');
    expect(asked.stderr).toContain('open evil.example:8443 in the browser?');
    expect(asked.stderr).toContain('  https://example.com@evil.example:8443/%1b[2J?to=https://example.com\n');
  });

  it('cannot command the terminal with what completes a word in the prompt, nor with a prompt', async () => {
    const told = new Told();
    async function* keys(): AsyncGenerator<string> {
      await told.next(/shop> /);
      yield 'prompt explain topic=br\t';
      await told.next(/topic=bridges /);
      yield '\n';
      await told.next(/shop> /);
      yield 'exit\n';
    }
    const ran = await fullmcp([url], { terminal: true, keys: keys(), onStderr: told.set });
    expect(ran.exit).toBe(0);
    for (const character of UNSAFE) expect(printed(ran)).not.toContain(character);
  });
});
