import { readdirSync, readFileSync } from 'node:fs';
import { createServer, inProcess, type ServerOptions, tool } from 'fullmcp';
import { expect, type Mock, test, vi } from 'vitest';
import { until } from '../../../support/until.js';

type DeprecationMode = ServerOptions['deprecations'];

const capabilities = { sampling: { context: {} }, roots: {} };

function asking(deprecations?: DeprecationMode) {
  const log = vi.fn();
  const server = createServer({
    name: 'asking',
    version: '1.0.0',
    logger: log,
    ...(deprecations !== undefined && { deprecations }),
    tools: {
      plain: tool({ run: (_, ctx) => ctx.log.info('plain') }),
      model: tool({
        run: async (_, ctx) => (await ctx.sample('title', { messages: 'A title', maxTokens: 10 })).text,
      }),
      context: tool({
        run: async (_, ctx) =>
          (await ctx.sample('title', { messages: 'A title', maxTokens: 10, includeContext: 'thisServer' }))
            .text,
      }),
      folders: tool({ run: async (_, ctx) => (await ctx.roots('open')).length }),
    },
  });
  const request = inProcess(server, { capabilities });
  return { log, call: (name: string) => request('tools/call', { name }) };
}

function reports(log: Mock): readonly unknown[][] {
  return log.mock.calls.filter(([, message]) => message.includes('deprecates'));
}

test('each deprecated part is reported once, with what to write instead', async () => {
  const { log, call } = asking();
  for (let times = 0; times < 3; times++)
    for (const name of ['model', 'context', 'folders'])
      expect((await call(name)).resultType).toBe('input_required');
  await until('all are reported', () => reports(log).length >= 3);
  expect(reports(log)).toEqual([
    [
      'warning',
      expect.stringMatching(
        /^\[FMDEP001\] .*ctx\.sample since 2026-07-28.* Call the API of a model provider.*fmdep001\.md\.$/,
      ),
    ],
    [
      'warning',
      expect.stringMatching(
        /^\[FMDEP002\] .*includeContext since 2025-11-25.* or use "none".*fmdep002\.md\.$/,
      ),
    ],
    [
      'warning',
      expect.stringMatching(
        /^\[FMDEP003\] .*ctx\.roots since 2026-07-28.* Take folders as arguments.*fmdep003\.md\.$/,
      ),
    ],
  ]);
});

test('a server that uses nothing deprecated is not warned', async () => {
  const { log, call } = asking();
  await call('plain');
  expect(log).not.toHaveBeenCalled();
});

test('"ignore" reports nothing', async () => {
  const { log, call } = asking('ignore');
  expect((await call('model')).resultType).toBe('input_required');
  expect(reports(log)).toEqual([]);
});

test('"error" lets the handler fail each time, and the log says why', async () => {
  const { log, call } = asking('error');
  for (let times = 0; times < 2; times++) expect(await call('folders')).toMatchObject({ isError: true });
  const reasons = log.mock.calls.map(([, , error]) => String(error));
  expect(reasons.filter((reason) => reason.includes('deprecates ctx.roots'))).toHaveLength(2);
});

test('any other value is rejected', () => {
  expect(() => asking('never' as DeprecationMode)).toThrow(
    '"deprecations" must be "warn", "ignore" or "error", not "never".',
  );
});

test('every code that a warning can have has a page, a row in the table of deprecations, and no page lacks a row', () => {
  const source = readFileSync('src/protocol/deprecation.ts', 'utf8');
  const codes = [...(source.match(/`FMDEP\$\{([^}]+)\}`/)?.[1] ?? '').matchAll(/\d{3}/g)].map(
    ([code]) => `FMDEP${code}`,
  );
  const pages = readdirSync('docs/deprecations').map((name) => name.replace('.md', '').toUpperCase());
  const table = readFileSync('docs/compatibility.md', 'utf8');
  const rows = [...table.matchAll(/^\| \[(FMDEP\d{3})\]\(deprecations\/(fmdep\d{3})\.md\)/gm)];
  expect(codes.length).toBeGreaterThan(3);
  expect(pages).toEqual(expect.arrayContaining(codes));
  expect(rows.map(([, code]) => code)).toEqual(pages);
  for (const page of pages)
    expect(readFileSync(`docs/deprecations/${page.toLowerCase()}.md`, 'utf8')).toMatch(
      new RegExp(`^# ${page}: `),
    );
});
