// The routes of a Hono app.

import { isObject } from '../../jsonrpc/message.js';
import type { Json } from '../document/references.js';
import { type FoundRoutes, methods } from './app-route.js';
import { descriptionOf, type RouteDescription } from './describe-route.js';
import type { HandleRequest } from './in-process.js';
import { toTemplate } from './route-path.js';

/** The part of a Hono app that is needed here. */
export interface HonoApp {
  readonly fetch: HandleRequest;
  readonly routes: readonly { readonly method: string; readonly path: string; readonly handler: unknown }[];
  /** Only an app of `@hono/zod-openapi` has it. */
  readonly getOpenAPI31Document?: (config: object) => unknown;
}

/** Whether an app is one of Hono. */
export function isHono(app: object): app is HonoApp {
  return 'fetch' in app && typeof app.fetch === 'function' && 'routes' in app && Array.isArray(app.routes);
}

/** The document that the app makes of its own routes; undefined if the app describes none. */
export function honoDocument(app: HonoApp, info: object): Json | undefined {
  if (typeof app.getOpenAPI31Document !== 'function') return undefined;
  const document = app.getOpenAPI31Document({ openapi: '3.1.0', info });
  if (!isObject(document) || !isObject(document['paths'])) return undefined;
  return Object.keys(document['paths']).length === 0 ? undefined : document;
}

/** The routes with the descriptions of `describeRoute`. Each handler of a route has an entry of its own. */
export function honoRoutes({ routes }: HonoApp): FoundRoutes {
  const found = new Map<string, FoundRoutes['routes'][number]>();
  const skipped = new Set<string>();
  for (const { method: verb, path, handler } of routes) {
    const method = verb.toLowerCase();
    // Middleware is there, too, for all methods.
    if (!methods.includes(method)) continue;
    const key = `${verb.toUpperCase()} ${path}`;
    const template = toTemplate(path, 'hono');
    if (template === undefined) skipped.add(key);
    else
      found.set(key, {
        ...{ method, path: template },
        description: found.get(key)?.description ?? partsOf(descriptionOf(unwrap(handler))),
      });
  }
  return { routes: [...found.values()], skipped: [...skipped] };
}

/** The parts of an operation in a description. */
export function partsOf(
  description: RouteDescription | undefined,
): FoundRoutes['routes'][number]['description'] {
  if (description === undefined) return undefined;
  const { response, ...parts } = description;
  return { ...parts, ...(response !== undefined && { responses: { 200: response } }) };
}

/** The handler itself, where Hono has wrapped it with the error handler of the app that it was mounted from. */
function unwrap(handler: unknown): unknown {
  const wrapped = handler as { readonly __COMPOSED_HANDLER?: unknown } | undefined;
  return wrapped?.__COMPOSED_HANDLER ?? handler;
}
