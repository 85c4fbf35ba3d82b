// Makes the definitions of a server from the routes of an app, which is called in the same process.

import { isObject } from '../../jsonrpc/message.js';
import { checkOptions, type OptionTable } from '../../protocol/checks/options.js';
import { OpenAPIError } from '../document/openapi-error.js';
import type { FromOpenAPI, OpenAPIDefinitions } from '../from-openapi.js';
import { type OpenAPIOptions, openApiTable } from '../options.js';
import type { AppRoute, FoundRoutes } from './app-route.js';
import { type ExpressMounts, expressRoutes, isExpress } from './express-routes.js';
import { fastifyDocument, fastifyRoutes, isFastify, type RecordedRoutes } from './fastify-routes.js';
import { honoDocument, honoRoutes, isHono } from './hono-routes.js';
import { type HandleRequest, inProcessFetch, type NodeListener } from './in-process.js';
import { routeDocument } from './route-document.js';

/** The options of `fromRoutes`: those of `fromOpenAPI`, except for those of a network, and these. */
export interface RoutesOptions<T = object, R = object>
  extends Omit<OpenAPIOptions<T, R>, 'fetch' | 'variables'> {
  /** The OpenAPI document of the app, if you have one. Default: that of the app's own generator, or else one made from its routes. */
  readonly document?: unknown;
  /** The routes of a Fastify app without `@fastify/swagger`, from `recordRoutes`. */
  readonly routes?: RecordedRoutes | undefined;
  /** The routers of an Express app by their paths, such as `{ '/api': apiRouter }`. Those mounted at `/` need no entry. */
  readonly mounts?: ExpressMounts | undefined;
  /** The title, the version and the description of the app. Default: those in its document. */
  readonly info?:
    | {
        /** The title, which also makes the name of the server. */
        readonly title: string;
        /** The version of the app. */
        readonly version: string;
        /** A sentence about the app. */
        readonly description?: string | undefined;
      }
    | undefined;
  /** Called with a sentence about routes that have no schema or were left out. Default: `console.warn`. */
  readonly onWarning?: ((message: string) => void) | undefined;
}

const { fetch: _fetch, variables: _variables, ...shared } = openApiTable;
const routesTable = {
  ...shared,
  document: 'any',
  routes: 'any',
  mounts: 'any',
  info: 'object',
  onWarning: 'function',
} as const satisfies OptionTable<RoutesOptions>;

/** The parts of `fromRoutes` that depend on the runtime. */
export interface RoutesRuntime {
  readonly fromOpenAPI: FromOpenAPI;
  /** Makes a function of web requests from a handler of `node:http`. */
  readonly overNode: (listener: NodeListener) => HandleRequest;
}

/** Makes the definitions of a server from the routes of an app. */
export type FromRoutes = <T extends object = object, R extends object = object>(
  /** The app: one of Hono, Express or Fastify. */
  app: object,
  options?: RoutesOptions<T, R>,
) => Promise<OpenAPIDefinitions<T, R>>;

/** Makes `fromRoutes` for a runtime. */
export function makeFromRoutes(runtime: RoutesRuntime): FromRoutes {
  return async function fromRoutes<T extends object = object, R extends object = object>(
    app: object,
    options: RoutesOptions<T, R> = {},
  ): Promise<OpenAPIDefinitions<T, R>> {
    checkOptions('fromRoutes', options, routesTable, { onWarn: 'onWarning', spec: 'document' });
    const { document, routes, mounts, info, onWarning = console.warn, ...others } = options;
    const known = readApp(app, { routes, mounts }, runtime);
    await known.ready?.();
    const title = info ?? { title: 'App', version: '0.0.0' };
    const own = document ?? known.document(title);
    const found = own === undefined ? known.routes() : undefined;
    if (found !== undefined) warn(found, onWarning);
    const made = own ?? routeDocument(found as FoundRoutes, title);
    return runtime.fromOpenAPI(info === undefined || !isObject(made) ? made : { ...made, info }, {
      baseUrl: 'http://localhost',
      ...others,
      fetch: inProcessFetch(known.handle),
    } as OpenAPIOptions<T, R>);
  };
}

/** An app of any framework. */
interface KnownApp {
  readonly handle: HandleRequest;
  /** Resolves when all routes are there. */
  readonly ready?: () => PromiseLike<unknown>;
  readonly document: (info: object) => unknown;
  readonly routes: () => FoundRoutes;
}

function readApp(
  app: object,
  { routes, mounts }: Pick<RoutesOptions, 'routes' | 'mounts'>,
  { overNode }: RoutesRuntime,
): KnownApp {
  const isApp = (typeof app === 'object' && app !== null) || typeof app === 'function';
  if (isApp && isFastify(app))
    return {
      handle: overNode(app.routing),
      ready: () => app.ready(),
      document: () => (routes === undefined ? fastifyDocument(app) : undefined),
      routes() {
        if (routes !== undefined) return fastifyRoutes(app, routes);
        throw new OpenAPIError(
          'A Fastify app does not tell its routes afterwards. Call recordRoutes(app) before you add the first route, and pass the result as "routes", or register @fastify/swagger with the option "openapi".',
        );
      },
    };
  if (isApp && isHono(app))
    return {
      handle: (request) => app.fetch(request),
      document: (info) => honoDocument(app, info),
      routes: () => honoRoutes(app),
    };
  if (isApp && isExpress(app))
    return { handle: overNode(app), document: () => undefined, routes: () => expressRoutes(app, mounts) };
  throw new OpenAPIError('fromRoutes needs an app of Hono, Express or Fastify, or a router of Express.');
}

const MAX_NAMED = 10;

function warn({ routes, skipped }: FoundRoutes, onWarning: (message: string) => void): void {
  if (routes.length === 0)
    throw new OpenAPIError(
      skipped.length === 0
        ? 'The app has no routes. Add them before you call fromRoutes.'
        : `None of the app's routes can be a tool: ${listed(skipped)} have wildcards, optional parts or expressions. Pass a "document".`,
    );
  if (skipped.length > 0)
    onWarning(
      `fromRoutes leaves out ${listed(skipped)}: tools cannot be made of wildcards, optional parts, expressions, and handlers of all methods.`,
    );
  const bare = routes.filter(({ description }) => description === undefined);
  if (bare.length > 0)
    onWarning(
      `fromRoutes found no schema for ${listed(bare.map(nameOfRoute))}: these tools take only the parameters of the path, as strings, and send no query and no body. Add schemas, or leave the routes out with "rules".`,
    );
}

function nameOfRoute({ method, path }: AppRoute): string {
  return `${method.toUpperCase()} ${path}`;
}

function listed(names: readonly string[]): string {
  const rest = names.length - MAX_NAMED;
  return `${names.slice(0, MAX_NAMED).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}
