import type { ServerResponse } from 'node:http';
import { startUpstream, type Upstream } from '../upstream.js';
import { changeOf, PAGE, type Row, rowsOf, singular } from './company.js';

/** The API of the company on a port of this computer, with the rows in memory. */
export interface CompanyApi extends AsyncDisposable {
  readonly baseUrl: string;
  /** The requests since `reset` that changed something: the method, the path and the body. */
  readonly changes: readonly string[];
  /** The number of requests since `reset`. */
  readonly requests: number;
  /** Brings all rows back. */
  readonly reset: () => void;
}

interface Request {
  readonly method: string;
  readonly url: string;
  readonly body: string;
}

/** Starts the API. */
export async function startCompanyApi(): Promise<CompanyApi> {
  const tables = new Map<string, Map<string, Row>>();
  const changes: string[] = [];

  function tableOf(area: string, collection: string): Map<string, Row> {
    const key = `${area}/${collection}`;
    const table = tables.get(key) ?? new Map(rowsOf(area, collection).map((row) => [row.id, row]));
    tables.set(key, table);
    return table;
  }

  function answer({ method, url, body }: Request): readonly [status: number, value: unknown] {
    const { pathname, searchParams } = new URL(url, 'http://company');
    const [, area = '', collection = '', id] = pathname.split('/');
    const table = tableOf(area, collection);
    const fields = body === '' ? undefined : JSON.parse(body);
    if (method !== 'GET') changes.push(changeOf(method, pathname, fields));
    if (method === 'POST') {
      const one = singular(collection);
      const row = { ...blank, ...fields, id: `${one}-${table.size + 1}`, status: 'open' } as Row;
      table.set(row.id, row);
      return [200, row];
    }
    if (id === undefined) return [200, pageOf([...table.values()], searchParams)];
    const row = table.get(id);
    if (row === undefined) return [404, { title: 'Not found', detail: `There is no ${id}` }];
    if (method === 'GET') return [200, row];
    if (method === 'DELETE') return [200, { deleted: table.delete(id) }];
    const changed = { ...row, ...fields } as Row;
    table.set(id, changed);
    return [200, changed];
  }

  const upstream: Upstream = await startUpstream((response: ServerResponse) => {
    const [status, value] = answer(upstream.received.at(-1) as Request);
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
  });
  return {
    baseUrl: upstream.baseUrl,
    changes,
    get requests() {
      return upstream.received.length;
    },
    reset() {
      tables.clear();
      changes.length = 0;
      upstream.received.length = 0;
    },
    [Symbol.asyncDispose]: () => upstream[Symbol.asyncDispose](),
  };
}

const blank = {
  owner: '',
  country: 'DE',
  priority: 1,
  amount: 0,
  created: '2026-01-01',
  account_id: 'account-1',
};

function pageOf(rows: readonly Row[], search: URLSearchParams): { total: number; items: readonly Row[] } {
  const filters = (['status', 'owner', 'country'] as const).filter((name) => search.has(name));
  const matching = rows.filter((row) => filters.every((name) => row[name] === search.get(name)));
  const offset = Number(search.get('offset') ?? 0);
  return { total: matching.length, items: matching.slice(offset, offset + PAGE) };
}
