import { createServer, resource, tool } from 'fullmcp';
import { describe, expect, it } from 'vitest';
import { served } from '../check/support.js';
import { fullmcp, type Ran } from '../support/run-cli.js';

// Results as a terminal shows them. A pipe gets the value alone, whatever the terminal could do.

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const MARKDOWN = '# Title\n\nSome **bold** text and `code`.\n\n```\nlet a = 1;\n```\n> quoted';
const rows = [
  { name: 'Ada', age: 36 },
  { name: 'Grace', age: 85 },
];
const picture = (mimeType: string, bytes: Uint8Array) => ({
  content: [{ type: 'image' as const, mimeType, data: Buffer.from(bytes).toString('base64') }],
});
const url = await served(
  createServer({
    name: 'shop',
    version: '1.0.0',
    tools: {
      markdown: tool({ run: () => MARKDOWN }),
      plain: tool({ run: () => 'a * b * c, and __init__' }),
      evil: tool({ run: () => '# Title \u001b[2J\n**b\u202eold** `co\u0007de`' }),
      rows: tool({ run: () => ({ rows }) }),
      more: tool({ run: () => ({ rows, next: 2 }) }),
      wide: tool({ run: () => ({ rows: [{ text: 'x'.repeat(70) }] }) }),
      picture: tool({ run: () => picture('image/png', PNG) }),
      lie: tool({ run: () => picture('image/png', Buffer.from('\u001b]0;owned\u0007')) }),
      large: tool({ run: () => picture('image/png', Buffer.concat([PNG, Buffer.alloc(5_000_000)])) }),
    },
    resources: { 'text://readme': resource({ mimeType: 'text/markdown', read: () => '*a*  **b**' }) },
  }),
);
/** Runs a command that succeeds. A failure shows its own words, and not only that nothing was printed. */
async function run(...line: Parameters<typeof fullmcp>): Promise<Ran> {
  const ran = await fullmcp(...line);
  expect(ran.exit, ran.stderr).toBe(0);
  return ran;
}
const at = (name: string, env: Record<string, string> = {}) =>
  run(['call', url, name], { terminal: true, env: { FORCE_COLOR: '1', ...env } });
// biome-ignore lint/suspicious/noControlCharactersInRegex: the codes of colours
const withoutColours = (printed: string): string => printed.replaceAll(/\u001b\[\d+m/g, '');

describe('Markdown', () => {
  it('has colours on a terminal, and every character of the server', async () => {
    const { stdout } = await at('markdown');
    expect(stdout).toContain('\u001b[1m# Title\u001b[22m');
    expect(stdout).toContain('Some \u001b[1m**bold**\u001b[22m text and \u001b[36m`code`\u001b[39m.');
    expect(stdout).toContain('\u001b[36mlet a = 1;\u001b[39m');
    expect(withoutColours(stdout)).toBe(`${MARKDOWN}\n`);
    expect(
      (await run(['read', url, 'text://readme'], { terminal: true, env: { FORCE_COLOR: '1' } })).stdout,
    ).toBe('*a*  \u001b[1m**b**\u001b[22m\n');
  });

  it('has none in a pipe, and neither has other text', async () => {
    expect((await run(['call', url, 'markdown'])).stdout).toBe(`${MARKDOWN}\n`);
    expect((await at('plain')).stdout).toBe('a * b * c, and __init__\n');
  });

  it('cannot control the terminal', async () => {
    expect(withoutColours((await at('evil')).stdout)).toBe(
      '# Title \\u{1b}[2J\n**b\\u{202e}old** `co\\u{7}de`\n',
    );
  });
});

describe('data', () => {
  it('is a table on a terminal, and JSON in a pipe', async () => {
    expect((await at('rows')).stdout).toBe('name   age\nAda     36\nGrace   85\n');
    expect(JSON.parse((await run(['call', url, 'rows'])).stdout)).toEqual({ rows });
  });

  it('is JSON on a terminal, too, if a table would leave something out', async () => {
    expect(JSON.parse((await at('more')).stdout)).toEqual({ rows, next: 2 });
    const wide = (columns: number) => run(['call', url, 'wide'], { terminal: true, columns });
    expect((await wide(70)).stdout).toBe(`text\n${'x'.repeat(70)}\n`);
    expect(JSON.parse((await wide(69)).stdout)).toEqual({ rows: [{ text: 'x'.repeat(70) }] });
  });

  it('is a table with --table, whose widest columns are cut at the width of the terminal', async () => {
    const table = async (more: object): Promise<readonly string[]> =>
      (await run(['call', url, 'wide', '--table'], more)).stdout.trimEnd().split('\n');
    const narrow = await table({ terminal: true, columns: 30 });
    for (const line of narrow) expect(line.length).toBeLessThanOrEqual(30);
    expect(narrow.join('\n')).toContain('xxxx…');
    for (const more of [{}, { terminal: true, columns: 70 }])
      expect((await table(more)).at(-1)).toBe('x'.repeat(70));
  });
});

describe('a picture', () => {
  const base64 = PNG.toString('base64');

  it('is shown by iTerm2 and WezTerm, Kitty and Ghostty', async () => {
    for (const TERM_PROGRAM of ['iTerm.app', 'WezTerm'])
      expect((await at('picture', { TERM_PROGRAM })).stdout).toBe(
        `\u001b]1337;File=inline=1;size=${PNG.length};preserveAspectRatio=1:${base64}\u0007\n`,
      );
    for (const env of [{ TERM: 'xterm-kitty' }, { TERM_PROGRAM: 'ghostty' }])
      expect((await at('picture', env)).stdout).toBe(`\u001b_Ga=T,f=100,m=0;${base64}\u001b\\\n`);
  });

  it('is not shown by others, inside of tmux, or if it is none', async () => {
    for (const env of [
      {},
      { TERM_PROGRAM: 'WezTerm', TMUX: '/tmp/1' },
      { TERM: 'screen', TERM_PROGRAM: 'WezTerm' },
    ]) {
      const { stdout, stderr } = await at('picture', env);
      expect({ stdout, stderr: withoutColours(stderr) }).toEqual({
        stdout: '',
        stderr: expect.stringContaining('not shown. -o <file> saves it.'),
      });
    }
    for (const name of ['lie', 'large'])
      expect((await at(name, { TERM_PROGRAM: 'WezTerm' })).stdout).toBe('');
  });

  it('reaches a pipe as its bytes', async () => {
    const { stdout } = await run(['call', url, 'picture'], { env: { TERM_PROGRAM: 'WezTerm' } });
    expect(Buffer.from(stdout, 'latin1').equals(PNG)).toBe(true);
  });
});
