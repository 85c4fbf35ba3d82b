// The fallbacks of a server. They are loaded with the first list or call of a tool: most servers have none.

import { optionMistakes } from '../../protocol/checks/options.js';
import { webUrl } from '../../protocol/checks/web-url.js';
import { DefinitionError } from '../../server/catalog/compile.js';
import { type FallbacksOptions, hostTable } from '../../server/define/fallback-options.js';
import type { FallbackHost, FallbackPluginParts } from '../../server/handle/fallback-host.js';
import type { LoadedFallbacks } from './front.js';
import { ANSWER_QUESTION, CONTINUE_TASK } from './names.js';

/** Makes the host of the fallbacks. Throws a `DefinitionError` for options that do not fit each other. */
export function fallbacksLater(parts: FallbackPluginParts): FallbackHost {
  const { options } = parts;
  const names = namesOf(options);
  const mistakes = [...mistakesIn(options), ...names.flatMap(takenBy)];
  if (mistakes.length > 0) throw new DefinitionError(mistakes);
  let front: LoadedFallbacks | undefined;
  let loading: Promise<LoadedFallbacks> | undefined;
  let isClosed = false;

  function takenBy(name: string): string[] {
    return parts.kindOf(name) === undefined
      ? []
      : [`"fallbacks" adds the tool "${name}": rename your tool of that name`];
  }

  async function load(): Promise<LoadedFallbacks> {
    const { FallbackFront } = await import('./front.js');
    const loaded = new FallbackFront(parts);
    if (isClosed) loaded.close();
    front = loaded;
    return loaded;
  }

  function use<T>(work: (front: LoadedFallbacks) => T | Promise<T>): T | Promise<T> {
    if (front !== undefined) return work(front);
    loading ??= load();
    return loading.then(work);
  }

  return {
    listTools: (call) => use((loaded) => loaded.listTools(call)),
    callTool: (call) => use((loaded) => loaded.callTool(call)),
    discover: options.asking && ((call) => use((loaded) => loaded.discover(call))),
    tasks: {
      ...parts.tasks,
      methods: new Map(
        [...parts.tasks.methods.keys()].map((method) => [
          method,
          async (call) => use((loaded) => loaded.serveTask(call)),
        ]),
      ),
    },
    defines: (tool) => names.includes(tool),
    page:
      options.page === undefined
        ? undefined
        : {
            path: new URL(options.page).pathname,
            reply: async (request, auth) => use((loaded) => loaded.reply(request, auth)),
          },
    close() {
      isClosed = true;
      front?.close();
    },
  };
}

/** The tools that the options add. */
function namesOf({ tasks, asking }: FallbacksOptions): readonly string[] {
  const asks = asking === 'model' || asking === 'url';
  return [...(asks || tasks !== undefined ? [CONTINUE_TASK] : []), ...(asks ? [ANSWER_QUESTION] : [])];
}

function mistakesIn({ asking, page, hosts = {} }: FallbacksOptions): string[] {
  const mistakes: string[] = [];
  if (page !== undefined && webUrl(page) === undefined)
    mistakes.push(`"fallbacks.page" must be an absolute https: or http: URL, not ${JSON.stringify(page)}`);
  if (page !== undefined && asking !== 'model' && asking !== 'url')
    mistakes.push('"fallbacks.page" needs "fallbacks.asking": "model" or "url"');
  if (asking === 'url' && page === undefined)
    mistakes.push('"fallbacks.asking" is "url", which needs "fallbacks.page": the public URL of the page');
  for (const [name, host] of Object.entries(hosts))
    mistakes.push(...optionMistakes(`fallbacks.hosts["${name}"]`, host, hostTable));
  return mistakes;
}
