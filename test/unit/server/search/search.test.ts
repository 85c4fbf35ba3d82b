import { createServer, inProcess, type Outcome, type ServerOptions, tool } from 'fullmcp';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';

type SearchOptions = Exclude<ServerOptions['search'], boolean | undefined>;

const quiet = { version: '1.0.0', secret: 'x'.repeat(32), logger: () => undefined };
const caller = (...scopes: string[]) => ({ caller: { subject: 'ada', scopes, claims: {} } });
const city = z.object({ city: z.string() });

const tools = {
  get_forecast: tool({ description: 'The weather of the next days', input: city, run: () => 'sunny' }),
  createInvoice: tool({ title: 'Bill a customer', description: 'Writes an invoice', run: () => 'written' }),
  delete_invoice: tool({ description: 'Deletes an invoice', scopes: ['admin'], run: () => 'deleted' }),
  list_orders: tool({ tags: ['shop'], description: 'All orders', run: () => [] }),
};

function shop(search: boolean | SearchOptions = true, more: object = {}) {
  return createServer({ ...quiet, name: 'shop', search, tools, ...more });
}

const namesOf = (found: Outcome): string[] =>
  (found['structuredContent'] as { tools: { name: string }[] }).tools.map(({ name }) => name);

async function find(server: object, query: string, as: object = {}): Promise<string[]> {
  const call = inProcess(server as never, as);
  return namesOf(await call('tools/call', { name: 'search_tools', arguments: { query } }));
}

async function listed(server: object, as: object = {}): Promise<string[]> {
  const { tools: list } = await inProcess(server as never, as)('tools/list');
  return (list as { name: string }[]).map(({ name }) => name);
}

describe('a server with search', () => {
  it('lists two tools, and those that are always listed', async () => {
    expect(await listed(shop())).toEqual(['search_tools', 'call_tool']);
    expect(await listed(shop({ always: ['list_orders'] }))).toEqual([
      'search_tools',
      'call_tool',
      'list_orders',
    ]);
    expect(await listed(shop(false))).toHaveLength(4);
  });

  it('finds tools by name, title, description, tag and argument, whatever the case and the number', async () => {
    const server = shop();
    expect((await find(server, 'weather'))[0]).toBe('get_forecast');
    expect((await find(server, 'Which city?'))[0]).toBe('get_forecast');
    expect((await find(server, 'billing customers'))[0]).toBe('createInvoice');
    expect((await find(server, 'create INVOICES'))[0]).toBe('createInvoice');
    expect((await find(server, 'shop'))[0]).toBe('list_orders');
    expect((await find(server, 'forcast'))[0]).toBe('get_forecast');
    expect((await find(server, 'createinvoice'))[0]).toBe('createInvoice');
    expect(await find(server, 'zebra')).toEqual([]);
  });

  it('returns the definitions as the list would', async () => {
    const [all] = [shop(false), shop()];
    const { tools: list } = await inProcess(all)('tools/list');
    const found = await inProcess(shop())('tools/call', {
      name: 'search_tools',
      arguments: { query: 'weather', limit: 1 },
    });
    expect(found['structuredContent']).toEqual({ tools: [(list as object[])[0]] });
  });

  it('limits the query, the number of results and their size', async () => {
    const long = { description: 'x'.repeat(60_000) };
    const many = Object.fromEntries(
      Array.from({ length: 60 }, (_, at) => [`report_${at}`, tool({ description: 'report', run: () => at })]),
    );
    const server = shop(true, { tools: many });
    expect(await find(server, 'report')).toHaveLength(5);
    const search = (args: object): Promise<Outcome> =>
      inProcess(server)('tools/call', { name: 'search_tools', arguments: args as never });
    expect(namesOf(await search({ query: 'report', limit: 50 }))).toHaveLength(50);
    expect(await search({ query: 'report', limit: 51 })).toMatchObject({ isError: true });
    expect(await search({ query: 'x'.repeat(501) })).toMatchObject({ isError: true });
    expect(await search({ query: '' })).toMatchObject({ isError: true });
    const big = { big_a: tool({ ...long, run: () => 1 }), big_b: tool({ ...long, run: () => 1 }) };
    expect(await find(shop(true, { tools: big }), 'big')).toHaveLength(1);
  });

  it('reports mistakes in its options when it is created', () => {
    expect(() => shop({ limit: 0 })).toThrow(/"search.limit" must be an integer from 1 to 50, not 0/);
    expect(() => shop({ always: 'list_orders' as never })).toThrow(/"search.always" must be an array/);
    expect(() => shop({ rank: 'best' as never })).toThrow(/"search.rank" must be a function/);
    expect(() => shop({ rankTimeoutMs: -1 })).toThrow(/"search.rankTimeoutMs"/);
    expect(() => shop({ top: 3 } as never)).toThrow(/"search.top" is unknown/);
    expect(() => shop(5 as never)).toThrow(/"search" must be a boolean or an object, not 5/);
    expect(() => shop(true, { tools: { call_tool: tools.list_orders } })).toThrow(/rename your tool/);
    const warnings: string[] = [];
    const logger = (_level: string, message: string): void => void warnings.push(message);
    shop({ always: ['list_order'] }, { logger });
    expect(warnings).toEqual(['"search.always" has "list_order", and no tool has that name yet']);
  });
});

describe('the search follows the server', () => {
  it('when tools are added and removed, also those of mounted servers', async () => {
    const inner = createServer({ ...quiet, name: 'inner', tools: { read_sensor: tool({ run: () => 1 }) } });
    const server = shop({ always: ['late', 'home_read_sensor'] }, { mount: { home: inner } });
    expect(await find(server, 'sensor')).toEqual(['home_read_sensor']);
    expect(await listed(server)).toEqual(['search_tools', 'call_tool', 'home_read_sensor']);
    const added = server.tool('late', { description: 'A telescope' }, () => 'stars');
    expect(await find(server, 'telescope')).toEqual(['late']);
    expect(await listed(server)).toContain('late');
    added.remove();
    expect(await find(server, 'telescope')).toEqual([]);
    expect(await listed(server)).not.toContain('late');
    inner.tool('open_garage', {}, () => 'open');
    expect(await find(server, 'garage')).toEqual(['home_open_garage']);
  });

  it('through thousands of changes', async () => {
    const server = shop();
    for (let round = 0; round < 5; round++) {
      const added = Array.from({ length: 150 }, (_, at) =>
        server.tool(`temporary_${round}_${at}`, { description: `lamp${at}` }, () => at),
      );
      expect(await find(server, 'lamp7')).toEqual([`temporary_${round}_7`]);
      for (const each of added) each.remove();
    }
    expect(await find(server, 'lamp7')).toEqual([]);
    expect((await find(server, 'weather'))[0]).toBe('get_forecast');
  });

  it('and leaves the tools of a mounted server that searches to the outer one', async () => {
    const main = createServer({ ...quiet, name: 'main', mount: { shop: shop() } });
    expect(await listed(main, caller('admin'))).toEqual([
      'shop_get_forecast',
      'shop_createInvoice',
      'shop_delete_invoice',
      'shop_list_orders',
    ]);
  });
});

describe('rank', () => {
  const rankedBy = (rank: SearchOptions['rank'], more: SearchOptions = {}, logger: unknown = quiet.logger) =>
    shop({ rank: rank as NonNullable<typeof rank>, ...more }, { logger });

  it('decides the order, of the tools that the caller sees', async () => {
    const seen: string[][] = [];
    const server = rankedBy(({ tools: visible, found }) => {
      seen.push(
        visible.map(({ name }) => name),
        [...found],
      );
      return ['list_orders', 'delete_invoice', 'nothing', 'list_orders', 'get_forecast'];
    });
    expect(await find(server, 'invoice', caller())).toEqual(['list_orders', 'get_forecast']);
    expect(seen).toEqual([['get_forecast', 'createInvoice', 'list_orders'], ['createInvoice']]);
    expect(await find(server, 'invoice', caller('admin'))).toEqual([
      'list_orders',
      'delete_invoice',
      'get_forecast',
    ]);
  });

  it('is replaced by the words if it fails, returns nonsense or takes too long, and that is logged', async () => {
    const warnings: string[] = [];
    const logger = (_level: string, message: string): void => void warnings.push(message);
    const broken = [
      () => Promise.reject(new Error('no embeddings')),
      () => {
        throw new Error('no embeddings');
      },
      () => 'list_orders' as never,
      () => new Promise<never>(() => undefined),
    ];
    for (const rank of broken)
      expect(await find(rankedBy(rank, { rankTimeoutMs: 20 }, logger), 'weather')).toEqual(['get_forecast']);
    expect(warnings).toHaveLength(4);
    expect(warnings[3]).toMatch(/took longer than 20 ms/);
  });
});
