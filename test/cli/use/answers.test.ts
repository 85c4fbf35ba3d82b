import { createServer, type Middleware, tool } from 'fullmcp';
import { serve } from 'fullmcp/node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { demoServer } from '../support/demo.js';
import { fullmcp } from '../support/run-cli.js';

const demo = demoServer();
const page = 'https://user@pay.example/bill?id=1&x=\u202e2';
const harmless = 'https://harmless.example/';
let url: string;
let close: () => Promise<void>;

/** Asks for an address that a server of fullmcp refuses to ask for, as servers of others may. */
const hostile: Middleware = async (call, next) =>
  JSON.parse(JSON.stringify(await next(call)).replaceAll(harmless, 'javascript:alert(1)'));

beforeAll(async () => {
  const server = createServer({
    name: 'asking',
    version: '1.0.0',
    use: [hostile],
    tools: {
      pay: tool({
        run: async (_input, { elicit }) => (await elicit('pay', { message: 'Pay first', url: page })).action,
      }),
      hostile: tool({
        run: async (_input, { elicit }) =>
          (await elicit('page', { message: 'Open this', url: harmless })).action,
      }),
      many: tool({
        run: async (_input, { ask }) => {
          const schema = z.object({
            age: z.int().min(18).max(99),
            mail: z.email(),
            note: z.string().optional(),
            ok: z.boolean().default(true),
          });
          return { got: await ask('many', { message: 'Say \u001b[2Jmore', schema }) };
        },
      }),
    },
  });
  const running = await serve(server, { port: 0 });
  url = running.url;
  close = () => running.close();
});
afterAll(() => close());

const ORDER = ['--answer', 'size=large', '--answer', 'pizza.toppings=ham,olives', '--answer', 'sure=yes'];

describe('questions of a tool', () => {
  it('are answered with --answer', async () => {
    const { exit, stdout, stderr } = await fullmcp(['call', demo.url, 'order_pizza', ...ORDER]);
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: '' });
    expect(stdout).toMatch(/^In oven \d+, ready in ten minutes\n$/);
  });

  it('for a page that is not one of the web are declined, and the user is told', async () => {
    const opened: string[] = [];
    const openPage = async (address: string): Promise<void> => void opened.push(address);
    const ran = await fullmcp(['call', url, 'hostile'], { keys: 'y\n', openPage });
    expect(ran).toMatchObject({ exit: 0, stdout: 'decline\n' });
    expect(ran.stderr).toContain(
      'asks the user to open "javascript:alert(1)", which is not an https: or http: address',
    );
    expect(opened).toEqual([]);
  });

  it('are answered the same way in a session of an earlier revision', async () => {
    const words = ['call', demo.url, 'order_pizza', '--revision', '2025-11-25'];
    expect((await fullmcp([...words, ...ORDER])).stdout).toMatch(/^In oven/);
    expect((await fullmcp(words)).exit).toBe(5);
  });

  it('end the command with the fields and a line to try if nobody is there', async () => {
    const { exit, stdout, stderr } = await fullmcp(['call', demo.url, 'order_pizza']);
    expect({ exit, stdout }).toEqual({ exit: 5, stdout: '' });
    expect(stderr).toBe(
      [
        'order_pizza asks: What would you like?',
        '  size      small | large, default small',
        '  toppings  up to 2 of olives | mushrooms | ham, separated by commas, required',
        'Nobody is here to answer. Try:',
        `  fullmcp call ${demo.url} order_pizza --answer size=small --answer toppings=olives`,
        '',
      ].join('\n'),
    );
    const json = await fullmcp(['call', demo.url, 'order_pizza', '--json']);
    expect(json.json()).toMatchObject({
      ok: false,
      error: { kind: 'unanswered', question: { key: 'pizza', fields: { size: expect.any(String) } } },
    });
  });

  it('name the answer that does not fit, or that was not asked for', async () => {
    const wrong = await fullmcp(['call', demo.url, 'order_pizza', '--answer', 'size=huge']);
    expect(wrong.exit).toBe(5);
    expect(wrong.stderr).toContain('--answer size: "huge" is not a choice; expected one of small, large');
    expect((await fullmcp(['call', demo.url, 'add', 'a=1', 'b=2', '--answer', 'x=1'])).stderr).toBe(
      'No question has a field "x".\n',
    );
    expect((await fullmcp(['call', demo.url, 'add', '--answer', 'x'])).exit).toBe(2);
  });

  it('are asked in the terminal, and again with the reason if the answer does not fit', async () => {
    const keys = 'twelve\r12\r42\rnobody\rada@example.org\r\rmaybe\rn\r';
    const { exit, stdout, stderr } = await fullmcp(['call', url, 'many', '--json'], { keys });
    expect(exit).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      data: { got: { age: 42, mail: 'ada@example.org', ok: false } },
    });
    expect(stderr).toContain('many asks: Say \\u{1b}[2Jmore\n');
    expect(stderr.match(/ {2}Ctrl\+D declines, Ctrl\+C cancels the call\.\n/g)).toHaveLength(1);
    expect(stderr).toContain('expected a number, got "twelve"');
    expect(stderr).toContain('expected y or n, got "maybe"');
    expect(
      stderr.match(/ {2}age \(required\) {2}a whole number, 18\.\.99 > /g)?.length,
    ).toBeGreaterThanOrEqual(3);
  });

  it('are declined with Ctrl+D, and end with 130 at Ctrl+C', async () => {
    const declined = await fullmcp(['call', url, 'many', '--json'], { keys: '\u0004' });
    expect(JSON.stringify(declined.json())).toContain('decline');
    expect((await fullmcp(['call', url, 'many'], { keys: '\u0003' })).exit).toBe(130);
  });

  it('ask only for the fields that --answer left out', async () => {
    const { stdout, stderr } = await fullmcp(
      ['call', url, 'many', '--json', '--answer', 'mail=a@b.org', '--answer', 'ok=no', '--answer', 'note=x'],
      { keys: '42\r' },
    );
    expect(JSON.parse(stdout)).toMatchObject({ data: { got: { age: 42, ok: false, note: 'x' } } });
    expect(stderr).not.toContain('mail  ');
  });
});

describe('a page that a tool asks to visit', () => {
  it('is shown whole, and opened only after yes', async () => {
    const opened: string[] = [];
    const openPage = (one: string): Promise<void> => Promise.resolve(void opened.push(one));
    const no = await fullmcp(['call', url, 'pay'], { keys: 'what\rn\r', openPage });
    expect(no.stdout).toBe('decline\n');
    expect(no.stderr).toContain('  https://user@pay.example/bill?id=1&x=%E2%80%AE2\n');
    expect(no.stderr).toContain('open pay.example in the browser?  y/n > ');
    expect(opened).toEqual([]);
    expect((await fullmcp(['call', url, 'pay'], { keys: 'y\r', openPage })).stdout).toBe('accept\n');
    expect(opened).toEqual(['https://user@pay.example/bill?id=1&x=%E2%80%AE2']);
  });

  it('is said not to open if there is no browser, even if that is known only after the call', async () => {
    const { stdout, stderr } = await fullmcp(['call', url, 'pay'], {
      keys: 'y\r',
      openPage: () => new Promise((_, reject) => setTimeout(() => reject(new Error('no browser')), 200)),
    });
    expect(stdout).toBe('accept\n');
    expect(stderr).toContain('No browser could be opened. Open the address yourself.');
  });

  it('cannot be agreed to with --answer', async () => {
    const { exit, stderr } = await fullmcp([
      'call',
      url,
      'pay',
      '--answer',
      'pay=yes',
      '--answer',
      'action=accept',
    ]);
    expect(exit).toBe(5);
    expect(stderr).toContain(
      'Nobody is here to visit the page. Run the command in a terminal to agree to it.',
    );
  });
});
