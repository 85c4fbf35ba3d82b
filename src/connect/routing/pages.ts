import { withSignal } from '../../async/lifetime.js';
import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import type { Call, Dispatch } from '../../protocol/call.js';
import { McpError } from '../../protocol/errors.js';
import { lists } from './lists.js';
import type { ListName } from './router.js';

const MAX_PAGES = 1000;
const MAX_ITEMS = 100_000;

const methods: Readonly<Record<ListName, string>> = {
  tools: 'tools/list',
  prompts: 'prompts/list',
  events: 'events/list',
  resources: 'resources/list',
  templates: 'resources/templates/list',
};

/** Fetches all pages of a list on behalf of a caller. Entries without a name are left out. */
export function fetchPages(
  dispatch: Dispatch,
  kind: ListName,
  { call, signal }: { readonly call: Call; readonly signal: AbortSignal },
): Promise<readonly JsonObject[]> {
  const { _meta } = call.params;
  return allPages(kind, (method, page) => {
    const params: JsonObject = { ...(_meta !== undefined && { _meta }), ...page };
    return dispatch(withSignal({ ...call, method, params, notify: () => undefined }, { signal }));
  });
}

/** All entries of a list, of which `fetchPage` gets one page. Entries without a name are left out. */
export async function allPages(
  kind: ListName,
  fetchPage: (method: string, params: JsonObject) => Promise<JsonObject>,
): Promise<readonly JsonObject[]> {
  const { field, key } = lists[kind];
  const items: JsonObject[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES && items.length < MAX_ITEMS; page++) {
    const result = await fetchPage(methods[kind], cursor === undefined ? {} : { cursor }).catch(
      withoutMethod,
    );
    const found = result?.[field];
    if (!Array.isArray(found)) return items;
    items.push(...found.filter((item) => isObject(item) && typeof item[key] === 'string'));
    const next = result?.['nextCursor'];
    if (typeof next !== 'string') return items;
    cursor = next;
  }
  throw new McpError(
    'bad_response',
    `The list of ${field} does not end: it has more than ${items.length} entries.`,
  );
}

/** Some servers declare resources but lack some of the methods. */
function withoutMethod(error: unknown): undefined {
  if (McpError.is(error) && error.code === 'method_not_found') return undefined;
  throw error;
}
