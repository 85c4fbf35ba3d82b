// Descriptions of routes, for frameworks whose routes carry no schemas of their own.

import type { JsonSchema } from '../../schema/document/plain-json.js';
import type { StandardSchema } from '../../schema/standard.js';

const brand = Symbol.for('fullmcp.route');

/** A schema of a route: a Standard Schema, such as one of zod, or a JSON Schema. */
type RouteSchema = StandardSchema | JsonSchema;

/** The description of a route, for the tool that it becomes. */
export interface RouteDescription {
  /** The name of the tool. Default: the method and the path. */
  readonly operationId?: string | undefined;
  /** A short sentence, which is the title of the tool. Default: none. */
  readonly summary?: string | undefined;
  /** The purpose of the route, for models. Default: the summary. */
  readonly description?: string | undefined;
  /** The tags of the route, for rules. Default: none. */
  readonly tags?: readonly string[] | undefined;
  /** Whether the route is deprecated. Default: false. */
  readonly deprecated?: boolean | undefined;
  /** The parameters of the path, as an object. Default: strings. */
  readonly params?: RouteSchema | undefined;
  /** The parameters of the query, as an object. Default: none. */
  readonly query?: RouteSchema | undefined;
  /** The headers that are arguments, as an object. Default: none. */
  readonly headers?: RouteSchema | undefined;
  /** The body, which is sent as JSON. Default: none. */
  readonly body?: RouteSchema | undefined;
  /** The JSON of successful replies. Default: not known, so that the tool has no output schema. */
  readonly response?: RouteSchema | undefined;
}

/** A middleware for Express and Hono that only describes its route. It calls the next handler at once. */
export interface RouteMarker {
  /** As Express calls it. */
  (request: unknown, response: unknown, next: () => unknown): void;
  /** As Hono calls it. */
  (context: unknown, next: () => Promise<void>): Promise<void>;
}

/**
 * Describes a route of Express or Hono for `fromRoutes`. The requests of the route are not validated by it: only calls of the tool are.
 *
 * @example
 * app.post('/orders', describeRoute({ summary: 'Places an order', body: z.object({ item: z.string() }) }), placeOrder);
 */
export function describeRoute(description: RouteDescription): RouteMarker {
  function describedRoute(...args: readonly unknown[]): unknown {
    return (args.at(-1) as () => unknown)();
  }
  return Object.assign(describedRoute, { [brand]: description }) as RouteMarker;
}

/** The description that a handler carries; undefined if it carries none. */
export function descriptionOf(handler: unknown): RouteDescription | undefined {
  return typeof handler === 'function' && brand in handler ? (handler[brand] as RouteDescription) : undefined;
}
