// The routes of a Fastify app.

import { isObject } from '../../jsonrpc/message.js';
import { OpenAPIError } from '../document/openapi-error.js';
import { listOf } from '../document/operations.js';
import type { Json } from '../document/references.js';
import { type FoundRoutes, methods, type OperationParts } from './app-route.js';
import type { NodeListener } from './in-process.js';
import { toTemplate } from './route-path.js';

/** The part of a Fastify app that is needed here. Fastify's own types are not used, so that users need not install them. */
export interface FastifyApp {
  readonly ready: () => PromiseLike<unknown>;
  readonly routing: NodeListener;
  readonly getSchemas?: () => unknown;
  /** Only an app with `@fastify/swagger` has it. */
  readonly swagger?: () => unknown;
}

/** The part of a Fastify app that `recordRoutes` needs. */
export interface RecordableApp {
  /** Adds a hook, of which `recordRoutes` adds `onRoute`. */
  readonly addHook: (...args: never) => unknown;
}

/** The routes of a Fastify app that `recordRoutes` has seen, for `fromRoutes`. */
export interface RecordedRoutes {
  /** The routes, as Fastify describes them to its hook `onRoute`. */
  readonly seen: readonly object[];
}

/**
 * Records the routes of a Fastify app for `fromRoutes`. Fastify tells a route only while it is added, so call this before you add the first
 * one. An app with `@fastify/swagger` does not need it.
 */
export function recordRoutes(app: RecordableApp): RecordedRoutes {
  const seen: object[] = [];
  const { addHook } = app as { readonly addHook: (name: string, hook: (route: object) => void) => unknown };
  addHook.call(app, 'onRoute', (route) => void seen.push(route));
  return { seen };
}

/** Whether an app is one of Fastify. */
export function isFastify(app: object): app is FastifyApp {
  return ['inject', 'ready', 'routing', 'addHook'].every((name) => typeof (app as Json)[name] === 'function');
}

/** The document of `@fastify/swagger`; undefined if the app does not have it. */
export function fastifyDocument(app: FastifyApp): Json | undefined {
  if (typeof app.swagger !== 'function') return undefined;
  const document = app.swagger();
  if (isObject(document) && document['openapi'] !== undefined) return document;
  throw new OpenAPIError(
    'The app has @fastify/swagger, which makes a document of Swagger 2.0 here. Register it with the option "openapi", such as { openapi: { openapi: "3.1.0" } }.',
  );
}

/** The recorded routes, with their schemas. Routes with `hide` are left out, as Fastify's own documents do. */
export function fastifyRoutes(app: FastifyApp, { seen }: RecordedRoutes): FoundRoutes {
  const routes: FoundRoutes['routes'][number][] = [];
  const skipped: string[] = [];
  for (const { method: verbs, url, schema } of seen as readonly Json[]) {
    if (isObject(schema) && schema['hide'] === true) continue;
    const path = String(url);
    const template = toTemplate(path, 'fastify');
    for (const verb of [verbs].flat()) {
      const method = String(verb).toLowerCase();
      if (!methods.includes(method)) continue;
      if (template === undefined) skipped.push(`${String(verb)} ${path}`);
      else routes.push({ method, path: template, description: partsOf(schema) });
    }
  }
  const shared = app.getSchemas?.();
  return { routes, skipped, ...(isObject(shared) && { shared }) };
}

function partsOf(schema: unknown): OperationParts | undefined {
  if (!isObject(schema)) return undefined;
  const { querystring, query = querystring, response, consumes, ...parts } = schema;
  return {
    ...parts,
    query,
    consumes: listOf(consumes).filter((type) => typeof type === 'string'),
    ...(isObject(response) && { responses: response }),
  };
}
