// The options of `fromOpenAPI`.

import type { SafeFetch } from '../oauth/fetch/safe-fetch.js';
import { readOptions } from '../protocol/checks/options.js';
import type { Context } from '../server/context/context.js';
import type { OpenAPIOperation } from './document/operations.js';
import { type OpenAPIRule, type Rule, readRules } from './rules.js';
import type { OpenAPICredentials } from './security/credentials.js';

/** Headers of requests, by name. */
type HeaderValues = Readonly<Record<string, string | undefined>>;

/** The options of `fromOpenAPI`. `tools` and `resources` are definitions of your own. */
export interface OpenAPIOptions<T = object, R = object> {
  /**
   * The address of the API, to which the paths are appended. It may be private and http, since you chose it. Default: the first of the
   * document's `servers`, which must be public and https.
   */
  readonly baseUrl?: string | undefined;
  /** The values of the variables in the document's `servers`. Default: the defaults in the document. */
  readonly variables?: Readonly<Record<string, string>> | undefined;
  /**
   * The credentials by the name of the security scheme: a value, or a function of the call's context, which may choose by caller.
   * Nothing of the caller is forwarded unless such a function does. Default: none.
   */
  readonly credentials?: OpenAPICredentials | undefined;
  /** Headers for every request: values, or a function of the call's context. They replace those of arguments. Default: none. */
  readonly headers?:
    | HeaderValues
    | ((ctx: Context, operation: OpenAPIOperation) => HeaderValues | Promise<HeaderValues>)
    | undefined;
  /** Rules that make an operation a tool, a resource or nothing. The first that matches decides. Default: all are tools. */
  readonly rules?: readonly OpenAPIRule[] | undefined;
  /** Whether deprecated operations are marked in their description, kept without a mark, or dropped. Default: `mark`. */
  readonly deprecated?: 'mark' | 'keep' | 'drop' | undefined;
  /** Makes the name of a tool; undefined for the usual one. Default: the `operationId`, or else the method and the path. */
  readonly toolName?: ((operation: OpenAPIOperation) => string | undefined) | undefined;
  /**
   * `check`: tools have the output schema of the document, and a reply that does not fit it is an error. `pass`: they have none, and
   * every reply is passed on. Default: `check` for schemas of up to 4,096 characters, and of 200,000 for all tools together, because
   * clients read and compile all of them; `pass` for larger ones.
   */
  readonly output?: 'check' | 'pass' | undefined;
  /** Your own tools, which the result has, too. A name that an operation also has is an error. Default: none. */
  readonly tools?: T | undefined;
  /** Your own resources, which the result has, too. Default: none. */
  readonly resources?: R | undefined;
  /** The media types of request bodies, the preferred one first. Default: JSON, then forms, then text. */
  readonly contentTypes?: readonly string[] | undefined;
  /** The time limit of a request, redirects included. Default: 30 s. */
  readonly timeoutMs?: number | undefined;
  /** The largest reply, in bytes. Default: 5 MB. */
  readonly maxBytes?: number | undefined;
  /** The characters of a schema that clients get; what does not fit is only outlined. Default: 32,768. */
  readonly maxSchemaChars?: number | undefined;
  /** The characters of a description. Default: 1,000. */
  readonly maxDescriptionChars?: number | undefined;
  /** The number of operations that may become tools or resources. Default: 5,000. */
  readonly maxOperations?: number | undefined;
  /** The characters of a document that is passed as a string. Default: 30,000,000. */
  readonly maxDocumentChars?: number | undefined;
  /**
   * Sends the requests instead of the hardened fetch, which opens a connection for each. It then has to check addresses and
   * redirects itself. Default: the hardened fetch.
   */
  readonly fetch?: SafeFetch | undefined;
}

/** The table of `OpenAPIOptions`. */
export const openApiTable = {
  baseUrl: 'any',
  variables: 'object',
  credentials: 'object',
  headers: ['function', 'object'],
  rules: 'array',
  deprecated: { oneOf: ['mark', 'keep', 'drop'], default: 'mark' },
  toolName: 'function',
  output: { oneOf: ['check', 'pass'] },
  tools: 'object',
  resources: 'object',
  contentTypes: 'strings',
  timeoutMs: { is: 'timer', default: 30_000 },
  maxBytes: { is: 'count', default: 5_000_000 },
  maxSchemaChars: { is: 'count', default: 32_768 },
  maxDescriptionChars: { is: 'count', default: 1000 },
  maxOperations: { is: 'count', default: 5000 },
  maxDocumentChars: { is: 'count', default: 30_000_000 },
  fetch: 'function',
} as const;

/** Names that other libraries use. */
const foreign = {
  routeMaps: 'rules',
  route_maps: 'rules',
  auth: 'credentials',
  serverUrl: 'baseUrl',
  url: 'baseUrl',
  timeout: 'timeoutMs',
  names: 'toolName',
};

/** The options with their defaults. */
export interface Settings
  extends Omit<OpenAPIOptions, keyof Defaulted | 'rules' | 'tools' | 'resources'>,
    Defaulted {
  readonly rules: readonly Rule[];
}

interface Defaulted {
  readonly variables: Readonly<Record<string, string>>;
  readonly credentials: OpenAPICredentials;
  readonly deprecated: 'mark' | 'keep' | 'drop';
  readonly contentTypes: readonly string[];
  readonly timeoutMs: number;
  readonly maxBytes: number;
  readonly maxSchemaChars: number;
  readonly maxDescriptionChars: number;
  readonly maxOperations: number;
  readonly maxDocumentChars: number;
}

/** Checks the options and adds their defaults. */
export function readOpenAPIOptions(options: OpenAPIOptions): Settings {
  const {
    tools: _tools,
    resources: _resources,
    ...read
  } = readOptions('fromOpenAPI', options, openApiTable, foreign);
  return {
    ...read,
    rules: readRules(read.rules ?? []),
    variables: read.variables ?? {},
    credentials: read.credentials ?? {},
    contentTypes: read.contentTypes ?? [],
  };
}
