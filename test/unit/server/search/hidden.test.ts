import fc from 'fast-check';
import { createServer, inProcess, type Outcome, type Tool, tool } from 'fullmcp';
import { policy } from 'fullmcp/middleware';
import { describe, expect, it } from 'vitest';
import { readCatalogue, readQuestions } from '../../protocol/search/catalogue.js';

const quiet = { version: '1.0.0', secret: 'x'.repeat(32), logger: () => undefined };
const ada = { caller: { subject: 'ada', scopes: [], claims: {} } };

async function search(server: object, query: string, limit = 10): Promise<Outcome> {
  const { _meta, ...found } = await inProcess(server as never, ada)('tools/call', {
    name: 'search_tools',
    arguments: { query, limit },
  });
  return found as Outcome;
}

async function failure(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => 'no failure',
    (error: Error) => error.message,
  );
}

describe('hidden tools', () => {
  it('do not change what a search returns: not the tools, their order, the hint, nor the words that are understood', async () => {
    const catalogue = readCatalogue();
    const questions = readQuestions('tuned').map(({ question }) => question);
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.boolean(), { minLength: catalogue.length, maxLength: catalogue.length }),
        fc.constantFrom('scopes', 'allow', 'removed'),
        fc.shuffledSubarray(questions, { minLength: 8, maxLength: 8 }),
        async (hidden, how, asked) => {
          const define = (isHidden: boolean, { description, inputSchema }: (typeof catalogue)[0]): Tool =>
            tool({
              description,
              input: inputSchema,
              ...(isHidden && how === 'scopes' && { scopes: ['other'] }),
              ...(isHidden && how === 'allow' && { allow: async () => false }),
              run: () => 1,
            });
          const entries = catalogue.map(
            (each, at) => [each.name, define(hidden[at] as boolean, each)] as const,
          );
          const seen = entries.filter((_, at) => !hidden[at]);
          const whole = createServer({ ...quiet, name: 's', search: true, tools: Object.fromEntries(seen) });
          const partly = createServer({
            ...quiet,
            name: 's',
            search: true,
            tools: Object.fromEntries(entries),
          });
          if (how === 'removed')
            return removed(
              whole,
              entries.filter((_, at) => hidden[at]),
              asked,
            );
          for (const query of [...asked, 'weathre', 'kuber'])
            expect(await search(partly, query)).toEqual(await search(whole, query));
        },
      ),
      { numRuns: 8 },
    );

    async function removed(server: ReturnType<typeof createServer>, extra: object[], asked: string[]) {
      const before = await Promise.all(asked.map((query) => search(server, query)));
      const added = (extra as [string, Tool][]).map(([name, { options }]) =>
        server.tool(name, options as object, () => 1),
      );
      await search(server, 'anything');
      for (const each of added) each.remove();
      for (const [at, query] of asked.entries()) expect(await search(server, query)).toEqual(before[at]);
    }
  });

  it('do not decide which of many similar words a misspelled one is understood as', async () => {
    const words = Array.from({ length: 12 }, (_, at) => `report${String.fromCharCode(97 + at)}`);
    const tools = Object.fromEntries(words.map((word) => [`t_${word}`, tool({ run: () => word })]));
    const hidden = tool({ description: [...words].reverse().join(' '), allow: () => false, run: () => 1 });
    const whole = createServer({ ...quiet, name: 's', search: true, tools });
    const partly = createServer({ ...quiet, name: 's', search: true, tools: { a_hidden: hidden, ...tools } });
    expect(await search(partly, 'reportx')).toEqual(await search(whole, 'reportx'));
  });

  it('fail as unknown ones do, called directly or through call_tool, and are not suggested', async () => {
    const server = createServer({
      ...quiet,
      name: 's',
      search: true,
      tools: {
        read_report: tool({ run: () => 'read' }),
        secret_report: tool({ allow: () => false, run: () => 'secret' }),
        admin_report: tool({ scopes: ['admin'], run: () => 'admin' }),
      },
    });
    const call = inProcess(server, ada);
    const through = (name: string) => failure(call('tools/call', { name: 'call_tool', arguments: { name } }));
    const direct = (name: string) => failure(call('tools/call', { name }));
    for (const name of ['secret_report', 'secret_repor', 'reed_report', 'admin_report', 'nothing'])
      expect(await through(name)).toBe(await direct(name));
    expect(await through('secret_repor')).toBe('Unknown tool: secret_repor');
    expect(await through('reed_report')).toBe('Unknown tool: reed_report. Did you mean "read_report"?');
    expect(await search(server, 'secret')).toEqual(await search(server, 'zzzzzz'));
  });

  it('are hidden by a policy, too, which does not concern the search itself', async () => {
    const server = createServer({
      ...quiet,
      name: 's',
      search: true,
      access: policy({ default: 'deny', rules: [{ effect: 'allow', tools: ['read_*'] }] }),
      tools: { read_report: tool({ run: () => 'read' }), wipe_report: tool({ run: () => 'wiped' }) },
    });
    const found = await search(server, 'report');
    expect((found['structuredContent'] as { tools: object[] }).tools).toMatchObject([
      { name: 'read_report' },
    ]);
    const call = inProcess(server, ada);
    const args = { name: 'wipe_report' };
    expect(await failure(call('tools/call', { name: 'call_tool', arguments: args }))).toMatch(/Unknown tool/);
  });

  it('that come while a search waits are not found by that search', async () => {
    let release = (): void => undefined;
    let isWaiting = false;
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const server = createServer({
      ...quiet,
      name: 's',
      search: true,
      tools: {
        slow_report: tool({
          allow: async () => {
            isWaiting = true;
            await gate;
            return true;
          },
          run: () => 1,
        }),
      },
    });
    const waiting = search(server, 'report');
    while (!isWaiting) await new Promise((resolve) => setImmediate(resolve));
    server.tool('secret_report', { allow: () => false }, () => 2);
    const later = search(server, 'report');
    await new Promise((resolve) => setImmediate(resolve));
    release();
    for (const found of await Promise.all([waiting, later]))
      expect(JSON.stringify(found)).not.toContain('secret');
  });

  it('stay behind the rules of the whole server, as the search itself does', async () => {
    const access = { scopes: ['mcp'] };
    const server = createServer({
      ...quiet,
      name: 's',
      search: true,
      access,
      tools: { a: tool({ run: () => 1 }) },
    });
    expect((await inProcess(server, ada)('tools/list'))['tools']).toEqual([]);
    await expect(search(server, 'a')).rejects.toMatchObject({ code: 'forbidden' });
  });
});
