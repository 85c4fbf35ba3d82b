// Apps as an extension of a server: their pages as resources, the tools that use them, and hosts that do not show them.

import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import type { Middleware, Peer } from '../../protocol/call.js';
import { type OptionTable, readOptions } from '../../protocol/checks/options.js';
import {
  APP_TYPE,
  isAppType,
  OLD_APP_KEY,
  type ToolVisibility,
  UI,
  uiOf,
} from '../../protocol/model/apps/app.js';
import type { ListedTool } from '../../protocol/model/model.js';
import { notFound } from '../../protocol/not-found.js';
import type { ServerExtension } from '../../server/define/extension.js';
import type { Tool } from '../../server/define/tool.js';
import { declares, extension } from '../extension.js';
import type { App } from './app.js';

/** The options of `withApp`. */
export interface WithAppOptions {
  /**
   * The parties that may see and call the tool: the model, and the apps of this server. `['app']` hides it from the model, and from
   * clients that show no apps. Default: both.
   */
  readonly visibility?: readonly ToolVisibility[];
}

const appTable = { visibility: 'strings' } as const satisfies OptionTable<WithAppOptions>;

/** The parts of a tool that `withApp` changes. */
interface Describable {
  readonly kind: 'tool';
  readonly options: Tool['options'];
}

/**
 * Gives a tool an app: hosts that show apps render the results with it. Other hosts use the text of the result, as with any tool.
 *
 * @example
 * const sales = withApp(tool({ description: 'Sales by month', run: () => ({ months: [3, 5, 8] }) }), chart);
 */
export function withApp<T extends Describable>(tool: T, app: App, options: WithAppOptions = {}): T {
  const { visibility } = readOptions('withApp', options, appTable);
  if (!isObject(tool) || tool['kind'] !== 'tool')
    throw new TypeError('withApp: the first argument must be a tool: withApp(tool({ … }), app).');
  if (!isObject(app) || typeof app['uri'] !== 'string')
    throw new TypeError('withApp: the second argument must be an app: withApp(tool, app({ uri, html })).');
  if (visibility !== undefined && (visibility.length === 0 || !visibility.every(isParty)))
    throw new TypeError('withApp: "visibility" must have "model", "app" or both.');
  const { meta = {}, use = [] } = (tool as T).options;
  const isAppOnly = visibility !== undefined && !visibility.includes('model');
  const ui = { resourceUri: app.uri, ...(visibility && { visibility }) };
  return {
    ...(tool as T),
    options: {
      ...(tool as T).options,
      // Hosts of the oldest form of the extension read only the second key.
      meta: { ...meta, ui: { ...(isObject(meta['ui']) && meta['ui']), ...ui }, [OLD_APP_KEY]: app.uri },
      ...(isAppOnly && { use: [refuseTextHosts, ...use] }),
    },
  };
}

function isParty(party: unknown): boolean {
  return party === 'model' || party === 'app';
}

/**
 * Serves apps, for `createServer({ extensions: [apps(chart)] })`. Tools for apps alone are hidden from clients that do not declare the
 * extension.
 */
export function apps(...served: readonly App[]): ServerExtension {
  const wrong = served.findIndex((each) => !isObject(each) || !isObject(each.resource));
  if (wrong >= 0)
    throw new TypeError(`apps: argument ${wrong + 1} is not an app; make one with app({ uri, html }).`);
  const resources = Object.fromEntries(served.map(({ uri, resource }) => [uri, resource]));
  if (Object.keys(resources).length < served.length) throw new TypeError('apps: two apps have the same URI.');
  const made = extension({
    id: UI,
    settings: { mimeTypes: [APP_TYPE] },
    negotiated: false,
    resources,
    use: [hideAppTools],
  });
  return {
    ...made,
    extend<Options extends object>(options: Options): Options {
      const extended = made.extend(options);
      checkTools(extended);
      return extended;
    },
  };
}

interface Definitions {
  readonly tools?: Readonly<Record<string, { readonly options?: { readonly meta?: JsonObject } }>>;
  readonly resources?: Readonly<Record<string, unknown>>;
}

/** Throws if a tool refers to an app that the server does not have. */
function checkTools({ tools = {}, resources = {} }: Definitions): void {
  for (const [name, { options }] of Object.entries(tools)) {
    const { uri } = uiOf({ _meta: options?.meta });
    if (uri !== undefined && !Object.hasOwn(resources, uri))
      throw new TypeError(
        `The tool "${name}" uses the app ${uri}, which is not served. Add it: extensions: [apps(…)].`,
      );
  }
}

/** Whether a client shows apps: `showsApps(ctx.client)` in a handler. */
export function showsApps(client: Pick<Peer, 'capabilities'>): boolean {
  if (!declares(client, UI)) return false;
  const { mimeTypes } = client.capabilities.extensions?.[UI] ?? {};
  // A session keeps only the name of an extension.
  return !Array.isArray(mimeTypes) || mimeTypes.some(isAppType);
}

const hideAppTools: Middleware = async function hideAppTools(call, next) {
  const outcome = await next(call);
  if (call.method !== 'tools/list') return outcome;
  const tools = outcome['tools'] as readonly ListedTool[];
  const visible = tools.filter((tool) => uiOf(tool).visibility.includes('model'));
  if (visible.length === tools.length) return outcome;
  // The list depends on the client, so no cache may give it to another one.
  const own = outcome['cacheScope'] === 'public' ? { ...outcome, cacheScope: 'private' } : outcome;
  return showsApps(call.peer) ? own : { ...own, tools: visible };
};

const refuseTextHosts: Middleware = async function refuseTextHosts(call, next) {
  if (call.isNested || showsApps(call.peer)) return next(call);
  throw notFound('tool', String(call.params['name']));
};
