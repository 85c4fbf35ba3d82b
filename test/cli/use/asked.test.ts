import { createServer, tool } from 'fullmcp';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { readArguments } from '../../../src/cli/arguments/read-arguments.js';
import { argumentWord } from '../../../src/cli/asking/ask-arguments.js';
import { served } from '../check/support.js';
import { fullmcp } from '../support/run-cli.js';

// A person who leaves something out is asked for it; a program gets the error that it always got.

const url = await served(
  createServer({
    name: 'shop',
    version: '1.0.0',
    tools: {
      add: tool({
        description: 'Adds two numbers \u001b[2J',
        input: z.object({ a: z.number().describe('the first'), b: z.number(), note: z.string().optional() }),
        run: ({ a, b, note }) => `${a + b}${note ?? ''}`,
      }),
      order: tool({
        input: z.object({
          size: z.enum(['small', 'large']),
          sure: z.boolean(),
          items: z.array(z.object({ id: z.number() })),
        }),
        run: (args) => JSON.stringify(args),
      }),
      book: tool({
        input: z.object({
          guest: z.object({
            name: z.string(),
            email: z.email(),
            country: z.enum(['AT', 'DE', 'FR']).optional(),
            note: z.string().optional(),
          }),
          mail: z.email(),
        }),
        run: () => 'booked',
      }),
      cook: tool({
        input: z.object({ minutes: z.int(), grams: z.int().min(1), people: z.int().min(1).max(8) }),
        run: () => 'cooked',
      }),
      fail: tool({
        input: z.object({ why: z.string() }),
        run: ({ why }) => {
          throw new Error(why);
        },
      }),
    },
  }),
);
const CTRL_D = '\u0004';

describe('fullmcp call without a tool', () => {
  it('lets a person choose by number, by name or by a part of the name, and prints the line to repeat it', async () => {
    const byNumber = await fullmcp(['call', url], { terminal: true, keys: '1\n2\n40\n' });
    expect(byNumber).toMatchObject({ exit: 0, stdout: '42\n' });
    expect(byNumber.stderr).toContain('Adds two numbers \\u{1b}[2J');
    expect(byNumber.stderr).toContain(`Again: fullmcp call ${url} add a=2 b=40\n`);
    const byPart = await fullmcp(['call', url], { terminal: true, keys: 'nothing\nAD\n1\n2\n' });
    expect(byPart.stderr).toContain('No tool is called "nothing".');
    expect(byPart.stdout).toBe('3\n');
  });

  it('names a close tool after a mistake, and does not print the list again', async () => {
    const { stdout, stderr } = await fullmcp(['call', url], {
      terminal: true,
      keys: '99\naddd\nadd\n1\n2\n',
    });
    expect(stdout).toBe('3\n');
    expect(stderr).toContain('  The numbers are 1 to 5.\n');
    expect(stderr).toContain('  No tool is called "addd". Did you mean "add"?\n');
    expect(stderr.match(/Adds two numbers/g)).toHaveLength(1);
  });

  it('ends without a call at Ctrl+D', async () => {
    const { exit, stdout, stderr } = await fullmcp(['call', url], { terminal: true, keys: CTRL_D });
    expect([exit, stdout]).toEqual([130, '']);
    expect(stderr).toMatch(/\nNothing was called\.\n$/);
    const unsent = await fullmcp(['call', url, 'add'], { terminal: true, keys: CTRL_D });
    expect([unsent.exit, unsent.stderr]).toEqual([130, expect.stringMatching(/\nNothing was sent\.\n$/)]);
  });

  it('asks nobody in a pipe or for JSON, even if a person is there', async () => {
    for (const [words, options] of [
      [['call', url], {}],
      [['call', url], { keys: '1\n' }],
      [['call', url, '--json'], { terminal: true, keys: '1\n' }],
    ] as const) {
      const { exit, stdout, stderr } = await fullmcp(words, options);
      expect(exit).toBe(2);
      expect(stdout + stderr).toContain('The name of a tool is missing.');
    }
  });
});

describe('arguments that are missing', () => {
  it('are asked for until they fit, and only those that are required', async () => {
    const { stdout, stderr } = await fullmcp(['call', url, 'add', 'b=40'], {
      terminal: true,
      keys: 'x\n\n2\n',
    });
    expect(stdout).toBe('42\n');
    expect(stderr).toContain('  the first\n');
    expect(stderr).toContain('a (required)  a number > ');
    expect(stderr).toContain('expected a number, got "x"');
    expect(stderr).toContain('a value is required');
    expect(stderr).not.toContain('note');
    expect(stderr).toContain(`Again: fullmcp call ${url} add b=40 a=2\n`);
  });

  it('are explained at the width of the terminal, with the type of those that are JSON and without the name that was just asked for', async () => {
    const { stdout, stderr } = await fullmcp(['call', url, 'book'], {
      terminal: true,
      columns: 60,
      keys: '[]\n{"name":"Ada","email":"ada@example.com"}\nnobody\nada@example.com\n',
    });
    expect(stdout).toBe('booked\n');
    expect(stderr).toContain(
      '  { name: string, email: string, country?: "AT" | "DE" |\n  "FR", note?: string }\n',
    );
    expect(stderr).toContain('\n  expected an object, got an array.\n');
    expect(stderr).toContain('\n  expected an email address, got the string "nobody".\n');
    const wrong = await fullmcp(['call', url, 'book', 'guest.name=Ada', 'mail=a@b.co'], {
      terminal: true,
      columns: 60,
    });
    expect(wrong.stderr).toContain('  book(guest: { name: string, email: string,\n    country?:');
    for (const line of wrong.stderr.split('\n')) expect(line.length).toBeLessThanOrEqual(60);
  });

  it('are asked for with their choices above the line, if there would be no room to type an answer', async () => {
    const asked = async (columns: number): Promise<string> =>
      (await fullmcp(['call', url, 'order'], { terminal: true, columns, keys: CTRL_D })).stderr;
    expect(await asked(80)).toContain('  size (required)  small | large > ');
    expect(await asked(40)).toContain('  small | large\n');
    expect(await asked(40)).toContain('  size (required) > ');
  });

  it('have the bounds that somebody has set, and not those of every integer', async () => {
    const { stdout, stderr } = await fullmcp(['call', url, 'cook'], { terminal: true, keys: '5\n1\n2\n' });
    expect(stdout).toBe('cooked\n');
    for (const asked of [
      'minutes (required)  a whole number > ',
      'a whole number, 1.. > ',
      'number, 1..8 > ',
    ])
      expect(stderr).toContain(asked);
  });

  it('leave the cursor in a line of its own at Ctrl+C', async () => {
    const { exit, stderr } = await fullmcp(['call', url, 'add'], { terminal: true, keys: '\u0003' });
    expect([exit, stderr.split('\n').at(-1)]).toEqual([130, '']);
    expect(stderr).toContain('^C\n');
  });

  it('may be choices, yes or no, and JSON, and the printed line gives the same result', async () => {
    const first = await fullmcp(['call', url, 'order'], {
      terminal: true,
      keys: 'lrge\nLARGE\ny\n[{"id":1}]\n',
    });
    expect(first.stderr).toContain('"lrge" is not a choice; did you mean "large"?');
    expect(JSON.parse(first.stdout)).toEqual({ size: 'large', sure: true, items: [{ id: 1 }] });
    const [, line = ''] = /Again: fullmcp (.*)\n/.exec(first.stderr) ?? [];
    const words = line.split(' ').map((word) => word.replace(/^'(.*)'$/, '$1'));
    expect((await fullmcp(words)).stdout).toBe(first.stdout);
  });

  it('are not asked for if what was typed is wrong', async () => {
    for (const [word, problem] of [
      ['nte=x', 'unknown field'],
      ['note:=5', 'note'],
    ]) {
      const ran = await fullmcp(['call', url, 'add', word ?? ''], { terminal: true, keys: '1\n2\n' });
      expect([ran.exit, ran.stdout]).toEqual([2, '']);
      expect(ran.stderr).toContain('Wrong arguments for add. Nothing was sent.');
      expect(ran.stderr).toContain(problem);
      expect(ran.stderr).not.toContain('add needs:');
    }
    const allowed = await fullmcp(['call', url, 'add', 'nte=x', '--allow-unknown'], {
      terminal: true,
      keys: '1\n2\n',
    });
    expect([allowed.exit, allowed.stdout]).toEqual([0, '3\n']);
  });

  it('are an error in a pipe, and nothing is sent', async () => {
    const { exit, stderr } = await fullmcp(['call', url, 'add'], { keys: '1\n2\n' });
    expect(exit).toBe(2);
    expect(stderr).toContain('Wrong arguments for add. Nothing was sent.');
  });

  it('are asked for without secrets in the line that is printed, also if the tool fails', async () => {
    const words = ['call', url, 'fail', '--token', 'secret-token-1', '-H', 'X-Key: secret-key-2'];
    const { exit, stderr } = await fullmcp(words, { terminal: true, keys: 'because\n' });
    expect(exit).toBe(1);
    expect(stderr).toContain(`fail why=because --token '…' --header 'X-Key: …'`);
    expect(stderr).not.toContain('secret-');
  });

  it.each([
    ['text', 'two words'],
    ['text', '@file'],
    ['text', ''],
    ['text', '[1]'],
    ['number', 1.5],
    ['flag', false],
    ['list', ['a,b', 'c']],
    ['a.b', 'x'],
    ['-n', 'x'],
    ['@n', 'x'],
    ['any', 'null'],
    ['any', null],
  ])('become a word that is read as the same value: %s, %j', (name, value) => {
    const types = { text: 'string', number: 'number', flag: 'boolean', list: 'array' };
    const type = Object.hasOwn(types, name) ? { type: types[name as keyof typeof types] } : {};
    const schema = { type: 'object', properties: { [name]: type } };
    const word = argumentWord(name, value, schema);
    expect(word).not.toMatch(/^[-@]/);
    expect(readArguments([word], schema)).toEqual({ [name]: value });
  });
});
