import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createServer, tool } from 'fullmcp';
import { describe, expect, it, onTestFinished, test, vi } from 'vitest';
import { wrapMessage } from '../../../src/cli/terminal/wrap.js';
import { folder, manifestFile, served } from '../check/support.js';
import { fullmcp } from '../support/run-cli.js';

const address = {
  type: 'object',
  properties: { street: { type: 'string' }, city: { type: 'string' }, floor: { type: 'integer' } },
  required: ['street', 'city'],
} as const;
const deep = (levels: number): object =>
  levels === 0
    ? { type: 'string' }
    : { type: 'object', properties: { inner: deep(levels - 1) }, required: ['inner'] };

const url = await served(
  createServer({
    name: 'travel',
    version: '1.0.0',
    instructions:
      'Book a journey first, and then a seat. A journey that is not paid within a day is given to somebody else.\nAsk for a price before that.',
    tools: {
      book: tool({
        description:
          'Books a journey for one traveller, with all the luggage that the traveller may carry on board',
        input: {
          type: 'object',
          properties: {
            traveller: { type: 'string' },
            luggage: {
              type: 'array',
              items: { type: 'object', properties: { kilograms: { type: 'number' } } },
            },
            address,
          },
          required: ['traveller'],
        },
        run: () => 'ok',
      }),
      dig: tool({ input: { type: 'object', properties: { a: deep(8) } }, run: () => 'ok' }),
    },
  }),
);

const files = await folder();
const emptyManifest = (): Promise<string> => manifestFile(join(files, 'before.json'), []);

async function failingRequests(): Promise<string> {
  const path = join(files, 'mcp.requests.json');
  const expected = 'a journey by train from the coast to the mountains, with all the luggage that is allowed';
  const requests = [{ name: 'books', tool: 'dig', expect: { equal: expected } }];
  await writeFile(path, JSON.stringify({ version: 1, requests }));
  return path;
}

const list = (columns: number | undefined) =>
  fullmcp(['list', url], { terminal: columns !== undefined, ...(columns !== undefined && { columns }) });
// biome-ignore lint/suspicious/noControlCharactersInRegex: the codes of colours
const withoutColours = (text: string): string => text.replaceAll(/\u001b\[\d+m/g, '');
const lines = (text: string): readonly string[] => withoutColours(text).split('\n');

describe('fullmcp list', () => {
  it('marks optional fields of nested objects, and prints … for what it leaves out', async () => {
    const { stdout } = await list(undefined);
    expect(stdout).toContain(
      'book(traveller: string, luggage?: { kilograms?: number }[], address?: { street: string, city: string, floor?: int })',
    );
    expect(stdout).toMatch(/dig\(a\?: \{ inner: \{ inner: .*… \} \}/);
    expect(stdout).not.toContain('any');
  });

  it.each([30, 40, 80, 140])(
    'breaks signatures at commas, with an indent, at %i columns',
    async (columns) => {
      const [plain, shown] = [await list(undefined), await list(columns)];
      const all = lines(shown.stdout);
      expect(all.filter((line) => line.length > columns)).toEqual([]);
      const at = all.findIndex((line) => line.startsWith('book('));
      const end = all.findIndex((line) => line.startsWith('    Books'));
      const signature = all.slice(at, end);
      expect(signature.slice(1).every((line) => /^ {2}\S/.test(line))).toBe(true);
      const joined = signature.map((line) => line.trim()).join(' ');
      expect(plain.stdout.split('\n')).toContain(joined);
      if (columns >= 80) for (const line of signature.slice(0, -1)) expect(line).toMatch(/,$/);
    },
  );

  it('prints a line for each tool to another program, however long', async () => {
    const { stdout } = await fullmcp(['list', url], { columns: 40 });
    expect(stdout.split('\n').filter((line) => !line.startsWith('    '))).toHaveLength(3);
  });

  it('prints descriptions whole to another program, and cuts them at the edge of a terminal', async () => {
    const whole =
      '    Books a journey for one traveller, with all the luggage that the traveller may carry on board\n';
    expect((await fullmcp(['list', url], { columns: 40 })).stdout).toContain(whole);
    const piped = await fullmcp(['list', url], { terminal: true, piped: true, columns: 40 });
    expect(piped.stdout).toContain(whole);
    expect(withoutColours((await list(40)).stdout)).toMatch(/^ {4}Books a journey .*…$/m);
  });

  it('says which of the lists is close to a wrong word', async () => {
    const { stderr } = await fullmcp(['list', url, 'tool']);
    expect(stderr).toBe(
      'A server has tools, resources, templates, prompts, but no "tool". Did you mean tools?\n',
    );
  });
});

describe.each([
  ['list', ['list', url], /^travel 1\.0\.0 · MCP 2026-07-28 · 2 tools · \d+ ms$/m],
  ['lint', ['lint', url, '--fail-on', 'never'], /^\d errors?, \d+ warnings?, \d+ to consider · 2 tools/m],
  ['lint with errors', ['lint', url, '--max-tokens', '1'], /^1 error, .* · 2 tools/m],
] as const)('the summary of fullmcp %s', (name, words, summary) => {
  it('is written before the answer if another program prints that on the same terminal, and after it otherwise', async () => {
    const order = async (piped: boolean): Promise<readonly string[]> => {
      const seen: string[] = [];
      const { exit } = await fullmcp(words, {
        terminal: true,
        piped,
        onStderr: (written) => summary.test(withoutColours(written)) && seen.push('summary'),
        onStdout: () => seen.push('answer'),
      });
      expect(exit).toBe(name === 'lint with errors' ? 1 : 0);
      return [seen[0] ?? '', seen.at(-1) ?? ''];
    };
    expect(await order(true)).toEqual(['summary', 'answer']);
    expect(await order(false)).toEqual(['answer', 'summary']);
  });
});

describe.each([
  ['lint', async () => ['lint', url]],
  ['info', async () => ['info', url]],
  ['doctor', async () => ['doctor', url]],
  ['doctor with a repair', async () => ['doctor', 'http://127.0.0.1:1/mcp']],
  ['diff', async () => ['diff', await emptyManifest(), url]],
  ['test', async () => ['test', url, '--file', await failingRequests()]],
] as const)('fullmcp %s', (_, words) => {
  it.each([40, 80, 140])('breaks its lines between words, with an indent, at %i columns', async (columns) => {
    const typed = await words();
    const plain = (await fullmcp(typed)).stdout;
    const { stdout } = await fullmcp(typed, { terminal: true, columns });
    const isOneWord = (line: string): boolean => !line.trim().includes(' ');
    expect(lines(stdout).filter((line) => line.length > columns && !isOneWord(line))).toEqual([]);
    if (columns === 40) expect(lines(stdout).length).toBeGreaterThan(lines(plain).length);
    const spoken = (text: string): string =>
      withoutColours(text)
        .replaceAll(/\s+/g, ' ')
        .replaceAll(/[\d.]+ m?s/g, '');
    expect(spoken(stdout)).toBe(spoken(plain));
  });
});

describe('a failure', () => {
  it('is broken between words at the width of the terminal, and its signature after commas; lines to copy stay whole', async () => {
    const words = ['call', url, 'book', 'traveler=Ada', 'luggage=3'];
    const whole = (await fullmcp(words)).stderr;
    const { stderr } = await fullmcp(words, { terminal: true, columns: 40 });
    const shown = lines(stderr).map((line) => line.replace(/^.*\r/, ''));
    expect(shown.filter((line) => line.length > 40)).toEqual([]);
    expect(shown.join(' ').replaceAll(/\s+/g, ' ')).toContain(whole.replaceAll(/\s+/g, ' ').trim());
    expect(shown).toContainEqual(expect.stringMatching(/^ {2}book\(.*,$/));
    const copied = `  fullmcp call ${url} book ${'x'.repeat(60)}`;
    expect(wrapMessage(`Try:\n${copied}`, 40)).toBe(`Try:\n${copied}`);
  });
});

describe('help', () => {
  it.each([[[]], [['help']], [['help', 'call']], [['help', 'auth', 'client', 'create']], [['help', 'auth']]])(
    'of %j breaks between words at any width',
    async (words) => {
      const whole = new Set(withoutColours((await fullmcp(words)).stdout).split(/\s+/));
      for (const columns of [24, 40, 80, 100]) {
        const { stdout } = await fullmcp(words, { terminal: true, columns });
        const shown = withoutColours(stdout).split(/\s+/);
        expect(shown.filter((word) => word !== '\\' && !whole.has(word))).toEqual([]);
        const long = lines(stdout).filter(
          (line) => line.length > columns && /\S\s+[^\s\\]/.test(line.trim()),
        );
        // The name of an option and its value stay together.
        expect(long.filter((line) => !/^ {2}(?:-\w, )?--/.test(line))).toEqual([]);
      }
    },
  );

  it('breaks an example so that a shell still reads it as one line', async () => {
    const { stdout } = await fullmcp(['help', 'call'], { terminal: true, columns: 60 });
    const text = withoutColours(stdout).replaceAll(/ \\\n +/g, ' ');
    expect(text).toContain(
      'fullmcp call ./server.ts order_pizza --answer size=large --answer toppings=ham --answer sure=yes\n',
    );
  });

  it('has colours on a terminal only, and none with NO_COLOR', async () => {
    const words = ['help', 'call'];
    expect((await fullmcp(words, { terminal: true })).stdout).toContain('\u001b[');
    for (const env of [{ NO_COLOR: '1' }, { TERM: 'dumb' }])
      expect((await fullmcp(words, { terminal: true, env })).stdout).not.toContain('\u001b');
    expect((await fullmcp(words)).stdout).not.toContain('\u001b');
    const wrong = await fullmcp(['lisst'], { terminal: true, env: { NO_COLOR: '1' } });
    expect(wrong.stderr).not.toContain('\u001b[31m');
  });
});

test('fullmcp discover breaks the command of a server between its words', async () => {
  const home = join(files, 'home');
  const server = `/opt/${'deep/'.repeat(10)}server.js`;
  await mkdir(join(home, '.cursor'), { recursive: true });
  const shop = { command: '/usr/bin/node', args: [server, 'run'] };
  await writeFile(join(home, '.cursor/mcp.json'), JSON.stringify({ mcpServers: { shop } }));
  vi.stubEnv('HOME', home);
  onTestFinished(() => void vi.unstubAllEnvs());
  const { stdout } = await fullmcp(['discover', 'cursor'], { terminal: true, columns: 80 });
  expect(lines(stdout)).toEqual(expect.arrayContaining(['  shop  /usr/bin/node', `    ${server} run`]));
});
