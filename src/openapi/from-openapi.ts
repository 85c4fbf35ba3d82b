// Makes the definitions of a server from an OpenAPI document.

import { isObject } from '../jsonrpc/message.js';
import type { SafeFetch } from '../oauth/fetch/safe-fetch.js';
import { shorten } from '../protocol/encoding/shorten.js';
import type { Resource } from '../server/define/resource.js';
import type { Tool } from '../server/define/tool.js';
import { OpenAPIError } from './document/openapi-error.js';
import { type ReadOperation, readOperations, stringOf } from './document/operations.js';
import { readDocument } from './document/read-document.js';
import { DocumentReferences } from './document/references.js';
import type { Callable } from './exchange.js';
import { makeResource } from './make-resource.js';
import { makeTool, outputsOf, type ToolPlan, type Workshop } from './make-tool.js';
import { type OpenAPIOptions, readOpenAPIOptions, type Settings } from './options.js';
import { planArguments } from './request/arguments.js';
import { planBody } from './request/body.js';
import { baseOf, readBaseUrl } from './request/servers.js';
import { acceptOf } from './response/output-schema.js';
import { type Decision, decide } from './rules.js';
import { uniqueNames } from './schema/names.js';
import { Schemas } from './schema/schemas.js';
import { Security } from './security/credentials.js';

/** The definitions of a server, for `createServer`. */
export interface OpenAPIDefinitions<T = object, R = object> {
  /** The name of the server, from the title of the document. */
  readonly name: string;
  /** The version of the document. */
  readonly version: string;
  /** The title of the document. */
  readonly title: string;
  /** The description of the document, shortened. */
  readonly description: string;
  /** The tools of the operations, and your own. */
  readonly tools: T & Readonly<Record<string, Tool>>;
  /** The resources and templates of the operations, and your own. */
  readonly resources: R & Readonly<Record<string, Resource>>;
}

/** The part of `fromOpenAPI` that depends on the runtime. */
export interface OpenAPIRuntime {
  readonly safeFetch: (options: { readonly privateHosts?: readonly string[] }) => SafeFetch;
}

interface Chosen extends Decision {
  readonly operation: ReadOperation;
  readonly wish: string;
  readonly key: string;
}

/** Makes the definitions of a server from an OpenAPI document. */
export type FromOpenAPI = <T extends object = object, R extends object = object>(
  /** The document: an object, JSON or YAML. */
  document: unknown,
  options?: OpenAPIOptions<T, R>,
) => Promise<OpenAPIDefinitions<T, R>>;

/** Makes `fromOpenAPI` for a runtime. */
export function makeFromOpenAPI(runtime: OpenAPIRuntime): FromOpenAPI {
  return async function fromOpenAPI<T extends object = object, R extends object = object>(
    document: unknown,
    options: OpenAPIOptions<T, R> = {},
  ): Promise<OpenAPIDefinitions<T, R>> {
    const settings = readOpenAPIOptions(options);
    const root = await readDocument(document, settings.maxDocumentChars);
    const references = new DocumentReferences(root);
    const privateHosts = settings.baseUrl === undefined ? [] : [readBaseUrl(settings.baseUrl).origin];
    const workshop: Workshop = {
      references,
      schemas: new Schemas(references, settings),
      api: {
        settings,
        security: new Security(root, references, settings.credentials),
        fetch: settings.fetch ?? runtime.safeFetch({ privateHosts }),
      },
    };
    const info = infoOf(root['info'], settings);
    const plans = new Map<string, ToolPlan>();
    const resources = new Map<string, Resource>();
    for (const [name, chosen] of uniqueNames(choose(readOperations(root, references), settings))) {
      const callable = prepare(chosen.operation, workshop);
      if (chosen.as === 'tool') plans.set(name, { callable, trimming: chosen.trimming });
      else {
        const made = makeResource(
          callable,
          { authority: info.name, trimming: chosen.trimming, name },
          workshop,
        );
        if (resources.has(made.uri))
          throw new OpenAPIError(
            `Two operations would be the resource ${made.uri}. Make one of them a tool.`,
          );
        resources.set(made.uri, made.resource);
      }
    }
    const outputs = outputsOf([...plans.values()], workshop);
    const tools = [...plans].map(
      ([name, plan]) => [name, makeTool(plan, outputs.get(plan), workshop)] as const,
    );
    return {
      ...info,
      tools: combine('tool', tools, options.tools) as OpenAPIDefinitions<T, R>['tools'],
      resources: combine('resource', [...resources], options.resources) as OpenAPIDefinitions<
        T,
        R
      >['resources'],
    };
  };
}

function choose(operations: Iterable<ReadOperation>, settings: Settings): readonly Chosen[] {
  const chosen: Chosen[] = [];
  for (const operation of operations) {
    const decision = decide(settings.rules, operation);
    const { method, path, operationId, deprecated } = operation;
    if (decision.as === 'nothing' || (deprecated && settings.deprecated === 'drop')) continue;
    if (chosen.length >= settings.maxOperations)
      throw new OpenAPIError(
        `More than ${settings.maxOperations} operations of the document would become tools or resources. Leave some out with "rules", or raise "maxOperations".`,
      );
    const name =
      settings.toolName?.(operation) ??
      operationId?.replaceAll('.', '_') ??
      `${method}${path.replaceAll(/[{}]/g, '')}`.replaceAll('/', '_');
    chosen.push({ ...decision, operation, wish: name, key: `${path} ${method}` });
  }
  return chosen;
}

function prepare(
  operation: ReadOperation,
  { references, schemas, api: { settings, security } }: Workshop,
): Callable {
  const body = planBody(operation, { references, schemas, contentTypes: settings.contentTypes });
  const isFilled = security.fills.bind(security, operation);
  const { maxDescriptionChars } = settings;
  const { method, verb, path } = operation;
  return {
    operation,
    request: {
      ...{
        method,
        verb,
        path,
        body,
        base: baseOf(operation, settings),
        accept: acceptOf(operation, references),
      },
      args: planArguments(operation, { references, schemas, body, maxDescriptionChars, isFilled }),
    },
  };
}

function infoOf(
  value: unknown,
  { maxDescriptionChars }: Settings,
): Pick<OpenAPIDefinitions, 'name' | 'title' | 'version' | 'description'> {
  const info = isObject(value) ? value : {};
  const title = shorten(stringOf(info['title']) ?? 'API', 100);
  const name = title
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '');
  return {
    name: name === '' ? 'api' : name,
    title,
    version: shorten(stringOf(info['version']) ?? '0.0.0', 60),
    description: shorten(stringOf(info['description']) ?? title, maxDescriptionChars),
  };
}

function combine(kind: string, made: readonly (readonly [string, unknown])[], own: object = {}): object {
  const both = made.flatMap(([name]) => (Object.hasOwn(own, name) ? [JSON.stringify(name)] : []));
  if (both.length > 0)
    throw new OpenAPIError(
      `An operation and a ${kind} of your own are both named ${both.join(', ')}. Rename yours, or the operation with "toolName", or leave the operation out with "rules".`,
    );
  return { ...own, ...Object.fromEntries(made) };
}
