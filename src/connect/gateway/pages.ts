import { withSignal } from '../../async/lifetime.js';
import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import type { Call, Dispatch } from '../../protocol/call.js';
import { McpError } from '../../protocol/errors.js';
import { lists } from '../routing/lists.js';
import type { ListName } from '../routing/router.js';

const MAX_PAGES = 1000;
const MAX_ITEMS = 100_000;

const methods: Readonly<Record<ListName, string>> = {
  tools: 'tools/list',
  prompts: 'prompts/list',
  resources: 'resources/list',
  templates: 'resources/templates/list',
};

/** Fetches all pages of a list on behalf of a caller. Entries without a name are left out. */
export async function fetchPages(
  dispatch: Dispatch,
  kind: ListName,
  { call, signal }: { readonly call: Call; readonly signal: AbortSignal },
): Promise<readonly JsonObject[]> {
  const { field, key } = lists[kind];
  const items: JsonObject[] = [];
  let cursor: unknown;
  for (let page = 0; page < MAX_PAGES && items.length < MAX_ITEMS; page++) {
    const { _meta } = call.params;
    const params = { ...(_meta !== undefined && { _meta }), ...(cursor !== undefined && { cursor }) };
    const listing = { ...call, method: methods[kind], params: params as JsonObject, notify: () => undefined };
    const outcome = await dispatch(withSignal(listing, { signal })).catch(withoutMethod);
    const found = outcome?.[field];
    if (!Array.isArray(found)) return items;
    items.push(...found.filter((item) => isObject(item) && typeof item[key] === 'string'));
    cursor = outcome?.['nextCursor'];
    if (typeof cursor !== 'string') return items;
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
