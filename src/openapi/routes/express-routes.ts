// The routes of an Express app, of version 4 or 5.

import { OpenAPIError } from '../document/openapi-error.js';
import type { Json } from '../document/references.js';
import { type AppRoute, type FoundRoutes, methods } from './app-route.js';
import { descriptionOf } from './describe-route.js';
import { partsOf } from './hono-routes.js';
import type { NodeListener } from './in-process.js';
import { toTemplate } from './route-path.js';

/** An Express app, or a router of Express. */
export type ExpressApp = NodeListener & { readonly use: unknown; readonly handle: unknown };

/** The routers of an Express app by the paths that they are mounted at. */
export type ExpressMounts = Readonly<Record<string, object>>;

interface Layer {
  readonly handle: unknown;
  readonly name?: string;
  readonly route?: Route | undefined;
  /** Express 5: whether the layer is mounted at `/`. */
  readonly slash?: boolean;
  /** Express 4: the same. */
  readonly regexp?: { readonly fast_slash?: boolean };
  readonly match: (path: string) => boolean;
}

interface Route {
  readonly path: unknown;
  readonly methods: Readonly<Record<string, boolean>>;
  readonly stack: readonly { readonly handle: unknown; readonly method?: string }[];
}

/** Whether an app is one of Express, or a router. */
export function isExpress(app: unknown): app is ExpressApp {
  const parts = app as Json;
  return (
    typeof app === 'function' && typeof parts['use'] === 'function' && typeof parts['handle'] === 'function'
  );
}

/** The routes with the descriptions of `describeRoute`. Express does not tell where routers are mounted, so `mounts` has to. */
export function expressRoutes(app: ExpressApp, mounts: ExpressMounts = {}): FoundRoutes {
  const left = new Set(Object.keys(mounts));
  const routes: AppRoute[] = [];
  const skipped: string[] = [];

  function walk(router: unknown, prefix: string): void {
    for (const layer of layersOf(router)) {
      if (layer.route !== undefined) readRoute(layer.route, prefix);
      else if (isMountedAtRoot(layer)) walk(layer.handle, prefix);
      else if (layersOf(layer.handle).length > 0) walkMounted(layer, prefix);
    }
    // A mounted app is hidden behind a function, but it knows its parent.
    for (const [path, mounted] of Object.entries(mounts))
      if (left.has(path) && (mounted as { readonly parent?: unknown }).parent === router) {
        left.delete(path);
        walk(mounted, path);
      }
  }

  function walkMounted(layer: Layer, prefix: string): void {
    const paths = Object.keys(mounts).filter(
      (path) =>
        mounts[path] === layer.handle && path.startsWith(prefix) && layer.match(path.slice(prefix.length)),
    );
    if (paths.length === 0)
      throw new OpenAPIError(
        `Express does not tell where a router with ${layersOf(layer.handle).length} handlers is mounted${prefix === '' ? '' : ` below ${prefix}`}. Pass its path, such as { mounts: { "/api": apiRouter } }, or pass a "document".`,
      );
    for (const path of paths) {
      left.delete(path);
      walk(layer.handle, path);
    }
  }

  function readRoute({ path: written, methods: verbs, stack }: Route, prefix: string): void {
    for (const path of [written].flat()) {
      const whole =
        typeof path === 'string' ? `${prefix}${path === '/' && prefix !== '' ? '' : path}` : undefined;
      const template = whole === undefined ? undefined : toTemplate(whole, 'express');
      if (template === undefined || verbs['_all'])
        skipped.push(`${verbs['_all'] ? 'ALL' : nameOf(verbs)} ${whole ?? String(path)}`);
      else
        for (const method of methods.filter((verb) => verbs[verb]))
          if (!routes.some((route) => route.method === method && route.path === template))
            routes.push({ method, path: template, description: describe(stack, method) });
    }
  }

  walk(app, '');
  if (left.size > 0)
    throw new OpenAPIError(
      `"mounts" has ${[...left].map((path) => `"${path}"`).join(', ')}, but the app does not have that router at that path.`,
    );
  return { routes, skipped };
}

function describe(stack: Route['stack'], method: string): AppRoute['description'] {
  const handlers = stack.filter((layer) => layer.method === undefined || layer.method === method);
  return partsOf(handlers.map(({ handle }) => descriptionOf(handle)).find((found) => found !== undefined));
}

function nameOf(verbs: Route['methods']): string {
  return Object.keys(verbs).join(', ').toUpperCase();
}

function isMountedAtRoot({ slash, regexp }: Layer): boolean {
  return slash === true || regexp?.fast_slash === true;
}

/** The handlers of a router or an app. The router of Express 4 does not exist before its first route, and reading `router` throws. */
function layersOf(router: unknown): readonly Layer[] {
  if (typeof router !== 'function') return [];
  const { stack, _router, lazyrouter } = router as unknown as Json;
  const inner =
    stack === undefined && lazyrouter === undefined && _router === undefined
      ? (router as unknown as Json)['router']
      : _router;
  const layers = stack ?? (inner as { readonly stack?: unknown } | undefined)?.stack;
  return Array.isArray(layers) ? (layers as readonly Layer[]) : [];
}
