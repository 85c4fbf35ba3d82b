// Makes an extension of the protocol for servers from its parts.

import { isObject, type JsonObject } from '../jsonrpc/message.js';
import type { Middleware, Peer } from '../protocol/call.js';
import { type OptionTable, optionMistakes } from '../protocol/checks/options.js';
import { McpError } from '../protocol/errors.js';
import type { SchemaLike } from '../schema/schema.js';
import type { Context } from '../server/context/context.js';
import type { ExtensionHost, ServerExtension } from '../server/define/extension.js';
import type { MethodParams } from '../server/define/options.js';
import type { Prompt } from '../server/define/prompt.js';
import type { Resource } from '../server/define/resource.js';
import type { Tool } from '../server/define/tool.js';

/** A method of an extension. */
export interface ExtensionMethod<Params = unknown> {
  /** The params, as a schema of an object. Default: any object, unchecked. */
  readonly params?: Params;
  /** The handler. It returns the result, an object. With a `resultType`, the result is one of the extension's `outcomes`. */
  readonly run: (params: MethodParams<Params>, ctx: Context) => object | Promise<object>;
}

/** The parts of an extension for servers. */
export interface ExtensionDefinition<M = Readonly<Record<string, unknown>>> {
  /** The identifier: a domain that you own, reversed, a slash and a name, as in `com.example/search`. */
  readonly id: string;
  /** The settings that the server declares. Default: an empty object. */
  readonly settings?: JsonObject;
  /** The methods by name. A name needs a prefix, such as `search/run`. */
  readonly methods?: { readonly [Name in keyof M]: ExtensionMethod<M[Name]> };
  /**
   * Whether only clients that declare the extension may call its methods; other clients get the error `missing_capability`. Set it to
   * false for an extension that only servers declare. Default: true.
   */
  readonly negotiated?: boolean;
  /**
   * The result types that the extension adds to those of the protocol, as in `['search_deferred']`. A client that does not declare the
   * extension never gets one: its call fails with `missing_capability`.
   */
  readonly outcomes?: readonly string[];
  /** Tools by name. */
  readonly tools?: Readonly<Record<string, Tool>>;
  /** Resources by URI; a URI with braces is a template. */
  readonly resources?: Readonly<Record<string, Resource>>;
  /** Prompts by name. */
  readonly prompts?: Readonly<Record<string, Prompt>>;
  /** Middleware around every call, inside of the server's own middleware. */
  readonly use?: readonly Middleware[];
  /** Called once for each server, when it has been created: keeps the host, to change definitions while the server runs. */
  readonly attach?: (host: ExtensionHost) => void;
}

const definitionTable = {
  id: 'any',
  settings: 'object',
  methods: 'object',
  negotiated: 'boolean',
  outcomes: 'strings',
  tools: 'object',
  resources: 'object',
  prompts: 'object',
  use: 'any',
  attach: 'function',
} as const satisfies OptionTable<ExtensionDefinition>;

/** The options of a server that an extension adds to. */
interface Extendable {
  readonly extensions?: Readonly<Record<string, JsonObject>>;
  readonly use?: readonly Middleware[];
}

/**
 * Makes an extension of the protocol, for `createServer({ extensions: [ … ] })`. Throws a TypeError that lists all mistakes.
 *
 * @example
 * const search = extension({
 *   id: 'com.example/search',
 *   methods: { 'search/run': { run: ({ query }) => ({ hits: [query] }) } },
 * });
 * createServer({ name: 'notes', version: '1.0.0', extensions: [search] });
 */
export function extension<M = Record<never, never>>(definition: ExtensionDefinition<M>): ServerExtension {
  const problems = problemsOf(definition);
  if (problems.length > 0) throw new TypeError(problems.join('\n'));
  const { id, settings = {}, use = [], outcomes = [], attach } = definition;
  return {
    id,
    extend<Options extends object>(options: Options): Options {
      const { extensions = {}, use: own = [] } = options as Extendable;
      if (Object.hasOwn(extensions, id)) throw new TypeError(`The extension "${id}" is given twice.`);
      const guard = outcomes.length > 0 ? [guardOutcomes(id, new Set(outcomes))] : [];
      const around = [...guard, ...own, ...use];
      return {
        ...options,
        ...merged(options as Groups, {
          ...definition,
          methods: methodsOf(definition as ExtensionDefinition),
        }),
        extensions: { ...extensions, [id]: settings },
        ...(around.length > 0 && { use: around }),
      };
    },
    attach,
  };
}

/** Whether a client declares an extension. */
export function declares({ capabilities: { extensions } }: Pick<Peer, 'capabilities'>, id: string): boolean {
  return extensions !== undefined && Object.hasOwn(extensions, id);
}

const groups = ['tools', 'resources', 'prompts', 'methods'] as const;
type Groups = { readonly [Group in (typeof groups)[number]]?: Readonly<Record<string, unknown>> };

/** The definitions of a server and of an extension together. */
function merged(own: Groups, added: Groups & { readonly id: string }): Groups {
  const problems: string[] = [];
  const all = groups.flatMap((group) => {
    const names = Object.keys(added[group] ?? {});
    for (const name of names)
      if (Object.hasOwn(own[group] ?? {}, name))
        problems.push(`"${name}" of "${group}" is also defined by the extension "${added.id}". Rename one.`);
    return names.length === 0 ? [] : [[group, { ...own[group], ...added[group] }]];
  });
  if (problems.length > 0) throw new TypeError(problems.join('\n'));
  return Object.fromEntries(all);
}

/** The methods as a server defines its own, with the check that the client declares the extension. */
function methodsOf({ id, methods = {}, negotiated = true }: ExtensionDefinition): Record<string, unknown> {
  if (!negotiated) return methods;
  return Object.fromEntries(
    Object.entries(methods as Record<string, ExtensionMethod<SchemaLike>>).map(([name, method]) => [
      name,
      {
        ...method,
        run(params: never, ctx: Context) {
          if (!declares(ctx.client, id)) throw undeclared(id);
          return method.run(params, ctx);
        },
      },
    ]),
  );
}

function guardOutcomes(id: string, outcomes: ReadonlySet<string>): Middleware {
  return async function guardOutcomes(call, next) {
    const outcome = await next(call);
    if (outcomes.has(outcome.resultType) && !declares(call.peer, id)) throw undeclared(id);
    return outcome;
  };
}

function undeclared(id: string): McpError {
  return new McpError(
    'missing_capability',
    `This call needs the extension ${id}, which the client does not declare. With fullmcp: connect(target, { extensions: [{ id: '${id}' }] }).`,
    { data: { requiredCapabilities: { extensions: { [id]: {} } } } },
  );
}

// Spec 2026-07-28, Extensions: an identifier has the form of a `_meta` key, with a prefix that is not optional.
const ID = /^[A-Za-z][A-Za-z0-9.-]*\/[A-Za-z0-9][A-Za-z0-9._-]*$/;
const OUTCOMES_OF_PROTOCOL = ['complete', 'input_required', 'task'];

function problemsOf(definition: unknown): string[] {
  if (!isObject(definition))
    return ['extension needs an object: extension({ id: "com.example/search", methods: { … } }).'];
  const { id, outcomes, use = [] } = definition;
  const problems = [...optionMistakes('', definition, definitionTable)];
  if (typeof id !== 'string' || id.length > 200 || !ID.test(id))
    problems.push('"id" must be a prefix, a slash and a name, such as "com.example/search".');
  if (Array.isArray(outcomes) && outcomes.some((type) => OUTCOMES_OF_PROTOCOL.includes(type)))
    problems.push(`"outcomes" must not have those of the protocol: ${OUTCOMES_OF_PROTOCOL.join(', ')}.`);
  if (!Array.isArray(use) || use.some((each) => typeof each !== 'function'))
    problems.push('"use" must be an array of functions.');
  return problems.map((problem) => `extension: ${problem}`);
}
