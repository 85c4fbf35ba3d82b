// The entry `fullmcp/openapi`: servers from OpenAPI documents.

import { lazySafeFetch } from './adapters/node/fetch/lazy-safe-fetch.js';
import { type FromOpenAPI, makeFromOpenAPI } from './openapi/from-openapi.js';

export type { SafeFetch, SafeFetchInit } from './oauth/fetch/safe-fetch.js';
export { OpenAPIError } from './openapi/document/openapi-error.js';
export type { OpenAPIOperation } from './openapi/document/operations.js';
export type { FromOpenAPI, OpenAPIDefinitions } from './openapi/from-openapi.js';
export type { OpenAPIOptions } from './openapi/options.js';
export type { OpenAPIRule } from './openapi/rules.js';
export type {
  OpenAPICredential,
  OpenAPICredentialSource,
  OpenAPICredentials,
} from './openapi/security/credentials.js';

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
