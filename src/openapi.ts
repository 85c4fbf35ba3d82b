// The entry `fullmcp/openapi`: servers from OpenAPI documents, and from the routes of apps.

import { hasNode, lazySafeFetch } from './adapters/node/fetch/lazy-safe-fetch.js';
import { type FromOpenAPI, makeFromOpenAPI } from './openapi/from-openapi.js';
import { type FromRoutes, makeFromRoutes } from './openapi/routes/from-routes.js';

export type { SafeFetch } from './oauth/fetch/safe-fetch.js';
export { OpenAPIError } from './openapi/document/openapi-error.js';
export type { OpenAPIOperation } from './openapi/document/operations.js';
export type { FromOpenAPI, OpenAPIDefinitions } from './openapi/from-openapi.js';
export type { OpenAPIOptions } from './openapi/options.js';
export { describeRoute, type RouteDescription, type RouteMarker } from './openapi/routes/describe-route.js';
export { type RecordedRoutes, recordRoutes } from './openapi/routes/fastify-routes.js';
export type { FromRoutes, RoutesOptions } from './openapi/routes/from-routes.js';
export type { OpenAPIRule } from './openapi/rules.js';
export type { OpenAPICredential, OpenAPICredentialSource } from './openapi/security/credentials.js';

/**
 * Makes the definitions of a server from an OpenAPI document (3.0 or 3.1; an object, JSON, or YAML with the package `yaml`): each
 * operation is a tool that calls the API, unless a rule says otherwise. Nothing but the document is read.
 *
 * @example
 * const api = await fromOpenAPI(await readFile('openapi.json', 'utf8'), {
 *   credentials: { token: process.env.API_TOKEN },
 *   rules: [{ path: '/admin/*', as: 'nothing' }],
 * });
 * export default createServer({ ...api, name: 'shop' });
 */
export const fromOpenAPI: FromOpenAPI = /* @__PURE__ */ makeFromOpenAPI({
  safeFetch: lazySafeFetch,
});

/**
 * Makes the definitions of a server from the routes of an app of Hono, Express or Fastify: each route is a tool that calls the app in the
 * same process, unless a rule says otherwise. Schemas come from the app's OpenAPI generator, or from the routes themselves.
 *
 * @example
 * const api = await fromRoutes(app, { rules: [{ path: '/admin/*', as: 'nothing' }] });
 * export default createServer({ ...api, name: 'shop' });
 */
export const fromRoutes: FromRoutes = /* @__PURE__ */ makeFromRoutes({
  fromOpenAPI,
  overNode(listener) {
    if (!hasNode()) throw new TypeError('Apps of Express and Fastify can be called only on Node.');
    let send: Promise<(request: Request) => Promise<Response>> | undefined;
    const load = async (): Promise<(request: Request) => Promise<Response>> =>
      (await import('./adapters/node/fetch/listener-requests.js')).listenerRequests(listener as never);
    return async function toListener(request) {
      send ??= load();
      return (await send)(request);
    };
  },
});
