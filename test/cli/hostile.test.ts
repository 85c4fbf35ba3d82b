import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createServer, McpError, tool } from 'fullmcp';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { folder, HOSTILE, served, UNSAFE } from './check/support.js';
import { fullmcp } from './support/run-cli.js';

// A server whose every text moves the cursor, hides words, turns their order around, or is a command for a shell.

const SHELL = '; touch owned; $(touch owned) `touch owned`';
const TEXT = `\u001b[8m${HOSTILE}${SHELL}`;
const LONG = TEXT.repeat(20);
const HUGE = TEXT.repeat(1_000_000 / TEXT.length);
const NAMES = [TEXT, '--help', '-o', SHELL, '__proto__', '\u202ex', 'a\nb', ''];

const schema = {
  type: 'object',
  description: LONG,
  properties: {
    [TEXT]: { type: 'string', description: LONG, enum: [TEXT], title: TEXT, pattern: TEXT, $ref: TEXT },
    '--help': { type: TEXT },
  },
  required: [TEXT, '--help'],
};
const named = NAMES.map((name) => ({ name, title: TEXT, description: LONG, icons: [{ src: TEXT }] }));
const content = [
  { type: 'text', text: TEXT },
  { type: 'image', data: 'AAAA', mimeType: TEXT },
  { type: 'resource_link', uri: TEXT, name: TEXT, title: TEXT, description: LONG, mimeType: TEXT },
  { type: 'resource', resource: { uri: TEXT, mimeType: TEXT, text: TEXT } },
  { type: TEXT, text: TEXT },
];

const results: Readonly<Record<string, object>> = {
  'tools/list': {
    tools: named.map((one, at) => ({
      ...one,
      ...(at === 0 && { description: HUGE }),
      inputSchema: schema,
      outputSchema: schema,
    })),
  },
  'resources/list': { resources: named.map((one) => ({ ...one, uri: `x:${one.name}`, mimeType: TEXT })) },
  'resources/templates/list': {
    resourceTemplates: named.map((one) => ({ ...one, uriTemplate: `x:{${one.name}}`, mimeType: TEXT })),
  },
  'prompts/list': { prompts: named.map((one) => ({ ...one, arguments: named })) },
  'resources/read': { contents: [{ uri: TEXT, mimeType: TEXT, text: TEXT }] },
  'prompts/get': {
    description: LONG,
    messages: content.map((part) => ({ role: 'user', content: part })),
  },
  'completion/complete': { completion: { values: [TEXT, ...NAMES] } },
};

const files = await folder();
const url = await served(
  createServer({
    name: 'hostile',
    version: '1.0.0',
    logger: () => undefined,
    tools: { asks: tool({ run: () => 'x' }) },
    resources: {},
    prompts: {},
    use: [
      async (call, next) => {
        if (call.method === 'server/discover') {
          const own = await next(call);
          return { ...own, instructions: LONG, serverInfo: { name: TEXT, title: TEXT, version: TEXT } };
        }
        if (call.method !== 'tools/call')
          return { ...(await next(call).catch(() => ({ resultType: 'complete' }))), ...results[call.method] };
        const { name } = call.params;
        if (name === '--help') throw new McpError('invalid_params', LONG, { data: { [TEXT]: LONG } });
        if (name === SHELL) return { resultType: 'complete', content, isError: true };
        return { resultType: 'complete', content, structuredContent: { [TEXT]: [{ [TEXT]: LONG }] } };
      },
    ],
  }),
);
const manifest = join(files, 'before.json');
await writeFile(manifest, (await fullmcp(['manifest', url])).stdout);
const lock = join(files, 'lock.json');

const lines: Readonly<Record<string, readonly string[]>> = {
  list: ['list', url],
  'list --long': ['list', url, '--long'],
  'list of one kind': ['list', url, 'prompts'],
  info: ['info', url, '--count', '2'],
  'call of a name for a terminal': ['call', url, TEXT],
  'call of a name for a shell': ['call', url, '--', SHELL],
  'call of a tool that fails': ['call', url, SHELL],
  'call of a tool that is not there': ['call', url, 'nothing'],
  'call with an unknown argument': ['call', url, TEXT, 'nothing=1'],
  'call of an option': ['call', url, '--', '--help'],
  read: ['read', url, `x:${TEXT}`],
  prompt: ['prompt', url, TEXT, `${TEXT}=1`],
  'prompt that is not there': ['prompt', url, 'nothing'],
  complete: ['complete', url, 'prompt', TEXT, 'a', 'b'],
  manifest: ['manifest', url],
  diff: ['diff', manifest, url],
  'diff with another server': ['diff', url, join(files, 'other.json')],
  lint: ['lint', url],
  'a target alone': [url],
  lock: ['lock', `shop=${url}`, '--lock', lock],
  check: ['lock', '--check', `shop=${url}`, '--lock', lock],
  tasks: ['tasks', url, TEXT],
  doctor: ['doctor', url],
  bench: ['bench', url, '--requests', '3', TEXT],
  record: ['record', url, '-o', join(files, 'a.tape'), '--force', '--', 'call', TEXT],
  replay: ['replay', join(files, 'a.tape'), url, '--allow-effects'],
  'generate client': ['generate', 'client', url],
  'generate types': ['generate', 'types', url],
  'generate cli': ['generate', 'cli', url],
  'generate docs': ['generate', 'docs', url],
  completion: ['__complete', 'bash', '--', 'call', '--timeout', '30s', url, ''],
  'completion of arguments': ['__complete', 'fish', '--', 'call', '--timeout', '30s', url, TEXT, ''],
};
await writeFile(
  join(files, 'other.json'),
  JSON.stringify({
    fullmcp: 'manifest',
    version: 1,
    server: { name: 'shop', version: '1' },
    revision: '2026-07-28',
    capabilities: {},
    tools: [],
    resources: [],
    templates: [],
    prompts: [],
  }),
);

/** The output without the colours of the command itself, and without those that draw its lines. */
function withoutColours(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the codes of the command
  return text.replaceAll(/\u001b\[(?:(?:[0-79]|[1-9]\d)m|2K|0J|\d+G)/g, '');
}

describe.each(Object.entries(lines))('fullmcp %s', (_, words) => {
  test.each([
    ['a terminal', true, []],
    ['a pipe', false, []],
    ['a program', false, ['--json']],
  ] as const)('shows to %s what a hostile server hides', async (_where, terminal, more) => {
    if (words[0] === '__complete' && more.length > 0) return;
    const at = words.indexOf('--');
    const typed =
      at === -1 || words[0] === '__complete'
        ? [...words, ...more]
        : [...words.slice(0, at), ...more, ...words.slice(at)];
    const { stdout, stderr } = await fullmcp(typed, { terminal });
    const printed = withoutColours(stdout + stderr);
    for (const character of UNSAFE) expect(printed).not.toContain(character);
    if (words[0] !== '__complete') expect(printed.length).toBeGreaterThan(0);
    if (more.length > 0) JSON.parse(stdout);
    else if (
      !['manifest', 'call', 'record', 'generate', '__complete'].includes(words[0] ?? '') &&
      !words.includes('--long')
    )
      expect(printed.length).toBeLessThan(HUGE.length);
    expect(await readdir(process.cwd())).not.toContain('owned');
  });
});

test('a form of a hostile server shows what it hides', async () => {
  const asking = await served(
    createServer({
      name: 'asking',
      version: '1.0.0',
      tools: {
        asks: tool({
          run: async (_, ctx) =>
            String(
              Object.keys(
                await ctx.ask('x', { message: TEXT, schema: z.object({ name: z.string().describe(TEXT) }) }),
              ),
            ),
        }),
      },
    }),
  );
  const { stdout, stderr } = await fullmcp(['call', asking, 'asks'], { terminal: true, keys: 'Ada\n\n' });
  const printed = withoutColours(stdout + stderr);
  expect(printed).toContain('touch owned');
  for (const character of UNSAFE) expect(printed).not.toContain(character);
});
