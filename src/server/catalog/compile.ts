// Compiles the definitions of a server, and reports all their mistakes at once.

import { SOME_REJECT } from '../../protocol/tables/failure-texts.js';
import { isProtocolMethod } from '../../protocol/tables/methods.js';
import type { CompiledSchema } from '../../schema/check/compiled-schema.js';
import { compileSchema } from '../../schema/compile.js';
import type { CompiledAccess } from '../access/access.js';
import type { Guarded } from '../access/views.js';
import type { Context } from '../context/context.js';
import type { Mounted } from '../context/handler-run.js';
import { checkKeys, type KeyCheck } from '../define/definition-tables.js';
import type { EventType } from '../define/event.js';
import type { Prompt } from '../define/prompt.js';
import type { Tool } from '../define/tool.js';
import type { Logger } from '../state/log.js';
import { checkFunction, serverFunctionProblems } from './check-functions.js';
import { type CompiledEvent, compileEvent } from './events.js';
import { type CompiledPrompt, compilePrompt } from './prompts.js';
import { type CompiledResource, type CompiledTemplate, compileResource } from './resources.js';
import { type CompiledTool, compileTool, type ToolDefaults } from './tools.js';

/** All mistakes in a server's definitions, in one error. */
export class DefinitionError extends TypeError {
  /** The mistakes, one sentence each. */
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(
      problems.length === 1
        ? `A mistake in the server's definition: ${problems[0]}`
        : `${problems.length} mistakes in the server's definition:\n${problems.map((line) => `  - ${line}`).join('\n')}`,
    );
    this.name = 'DefinitionError';
    this.problems = problems;
  }
}

interface MethodDefinition {
  readonly params?: Parameters<typeof compileSchema>[0];
  readonly run: unknown;
}

/** Definitions as the program wrote them, unchecked. */
export interface Definitions {
  readonly name?: unknown;
  readonly version?: unknown;
  readonly tools?: Readonly<Record<string, unknown>> | undefined;
  readonly resources?: Readonly<Record<string, unknown>> | undefined;
  readonly prompts?: Readonly<Record<string, unknown>> | undefined;
  readonly events?: Readonly<Record<string, unknown>> | undefined;
  readonly methods?: Readonly<Record<string, unknown>> | undefined;
}

/** A method of the server, prepared for its calls. */
export interface CompiledMethod extends Guarded {
  readonly params: CompiledSchema | undefined;
  readonly run: (params: unknown, ctx: Context) => unknown;
  readonly mounted?: Mounted;
}

/** All definitions of a server, prepared for their calls. */
export interface CompiledDefinitions {
  readonly tools: ReadonlyMap<string, CompiledTool>;
  readonly resources: ReadonlyMap<string, CompiledResource | CompiledTemplate>;
  readonly prompts: ReadonlyMap<string, CompiledPrompt>;
  readonly events: ReadonlyMap<string, CompiledEvent>;
  readonly methods: ReadonlyMap<string, CompiledMethod>;
}

/** The parts of mounted servers that the rules of a server may name. */
export interface MountedRules {
  readonly tags: readonly string[];
  readonly tools: readonly (CompiledAccess | undefined)[];
}

/** The server's settings for definitions without their own. */
export interface Defaults extends ToolDefaults {
  /** Whether events are delivered to webhooks. */
  readonly hasWebhooks?: boolean;
}

/** Compiles all definitions. Throws one `DefinitionError` with all mistakes. */
export function compileDefinitions(
  definitions: Definitions,
  defaults: Defaults,
  mounted: MountedRules = { tags: [], tools: [] },
): CompiledDefinitions {
  const problems: string[] = [
    ...checkKeys('server', definitions).problems,
    ...serverFunctionProblems({ ...definitions }),
    ...defaults.access.problems,
  ];
  for (const field of ['name', 'version'] as const) {
    if (typeof definitions[field] !== 'string' || definitions[field] === '') {
      problems.push(`"${field}" must be a non-empty string`);
    }
  }
  const compileAll = <K extends Kind>(
    kind: K,
    group: Readonly<Record<string, unknown>> | undefined,
  ): Map<string, CompiledOf<K>> => {
    const compiled = new Map<string, CompiledOf<K>>();
    if (Array.isArray(group)) {
      const keys = kind === 'resource' ? 'URIs' : 'names';
      problems.push(`"${kind}s" must be an object with the ${keys} as keys, not an array`);
      return compiled;
    }
    for (const [name, definition] of Object.entries(group ?? {})) {
      const entry = compileOne(kind, name, definition, { defaults, problems });
      if (entry !== undefined) compiled.set(name, entry);
    }
    return compiled;
  };
  const compiled = {
    tools: compileAll('tool', definitions.tools),
    resources: compileAll('resource', definitions.resources),
    prompts: compileAll('prompt', definitions.prompts),
    events: compileAll('event', definitions.events),
    methods: compileAll('method', definitions.methods),
  };
  problems.push(...defaults.access.tagProblems(new Set([...tagsOf(definitions), ...mounted.tags])));
  const toolRules = [...[...compiled.tools.values()].map(({ access }) => access), ...mounted.tools];
  problems.push(...defaults.access.policyProblems(toolRules));
  if (problems.length > 0) throw new DefinitionError(problems);
  return compiled;
}

function tagsOf({ tools, resources, prompts, events }: Definitions): ReadonlySet<string> {
  const definitions = [tools, resources, prompts, events].flatMap((group) => Object.values(group ?? {}));
  return new Set(
    definitions.flatMap((definition) => {
      const tags: unknown = (definition as Partial<Tool> | null)?.options?.tags;
      return Array.isArray(tags) ? tags : [];
    }),
  );
}

/** Compiles a definition that is added to a running server. Throws a `DefinitionError` with all its mistakes. */
export function compileDefinition<K extends Kind>(
  kind: K,
  name: string,
  definition: unknown,
  defaults: Defaults,
): CompiledOf<K> {
  const problems: string[] = [];
  const compiled = compileOne(kind, name, definition, { defaults, problems });
  if (compiled === undefined || problems.length > 0) throw new DefinitionError(problems);
  return compiled;
}

/** A definition that is made from others: one that `transform` has changed, or several versions of a tool. */
export interface Composed<Compiled> {
  /** Compiles the definition. `compile` compiles those that it is made from, under the same name. */
  readonly '~compile'?: (compile: (definition: unknown) => Compiled, parts: ComposingParts) => Compiled;
}

/** The parts of a server that a composed definition is compiled with. */
interface ComposingParts extends Defaults {
  readonly name: string;
  /** The tags of the composed definition. */
  readonly tags: readonly string[];
}

interface CompiledKinds {
  readonly tool: CompiledTool;
  readonly resource: CompiledResource | CompiledTemplate;
  readonly prompt: CompiledPrompt;
  readonly method: CompiledMethod;
  readonly event: CompiledEvent;
}
type Kind = keyof CompiledKinds;
type CompiledOf<K extends Kind> = CompiledKinds[K];

const compilers = {
  tool: compileCheckedTool,
  resource: compileResource,
  prompt: compileCheckedPrompt,
  method: compileMethod,
  event: compileCheckedEvent,
};

function compileOne<K extends Kind>(
  kind: K,
  name: string,
  definition: unknown,
  { defaults, problems }: { readonly defaults: Defaults; readonly problems: string[] },
): CompiledOf<K> | undefined {
  const report = (problem: string): void => void problems.push(`${kind} "${name}": ${problem}`);
  const isOfKind = kind === 'method' || (definition as { kind?: unknown } | null)?.kind === kind;
  if (typeof definition !== 'object' || definition === null || !isOfKind) {
    report(
      kind === 'method'
        ? 'it is not a definition; write { run: (params, ctx) => … }'
        : `it is not a definition; make one with ${kind}({ … })`,
    );
    return undefined;
  }
  const { problems: unknown, definition: corrected } =
    kind === 'method' ? checkKeys(kind, definition) : checkOptionsOf(kind, definition);
  unknown.forEach(report);
  const compile = compilers[kind] as (name: string, definition: object, defaults: Defaults) => CompiledOf<K>;
  try {
    const { '~compile': compose } = corrected as Composed<CompiledOf<K>>;
    if (compose === undefined) return compile(name, corrected, defaults);
    const { tags = [] } = (corrected as Partial<Tool>).options ?? {};
    return compose((part) => compileDefinition(kind, name, part, defaults), { ...defaults, name, tags });
  } catch (error) {
    // The mistakes of the definitions that a composed one is made from begin with its name already.
    if (error instanceof DefinitionError) problems.push(...error.problems);
    else report(error instanceof Error ? error.message : String(error));
    return undefined;
  }
}

// A handler under a wrong name is among the options, because `tool()` separates only the names that it knows.
function checkOptionsOf(kind: Exclude<Kind, 'method'>, definition: object): KeyCheck<object> {
  const check = checkKeys(kind, (definition as { readonly options: object }).options);
  const { problems } = check;
  if (problems.length === 0) return { problems, definition };
  const { run, load, read, ...options } = check.definition as Record<string, unknown>;
  return {
    problems,
    definition: {
      ...definition,
      options,
      ...(run !== undefined && { run }),
      ...(read !== undefined && { read }),
    },
  };
}

/** Compiles a tool, and warns about names that some clients reject. */
function compileCheckedTool(name: string, tool: Tool, defaults: Defaults): CompiledTool {
  const { log } = defaults;
  const compiled = compileTool(name, tool, defaults);
  warnOfPatterns(`tool "${name}"`, compiled.input, log);
  if (name.length > 64) log('warning', `tool "${name}": ${SOME_REJECT}of more than 64 characters`);
  if (name.includes('.')) log('warning', `tool "${name}": ${SOME_REJECT}with a dot`);
  return compiled;
}

function warnOfPatterns(definition: string, { document }: CompiledSchema, log: Logger): void {
  for (const pattern of document.slowPatterns) {
    log(
      'warning',
      `${definition}: the pattern ${pattern} can take exponential time on a string that a client chooses. Rewrite it so that a repeated group can match a string in only one way.`,
    );
  }
}

function compileCheckedPrompt(name: string, prompt: Prompt, defaults: Defaults): CompiledPrompt {
  const compiled = compilePrompt(name, prompt, defaults);
  warnOfPatterns(`prompt "${name}"`, compiled.args, defaults.log);
  return compiled;
}

function compileCheckedEvent(name: string, event: EventType, defaults: Defaults): CompiledEvent {
  const compiled = compileEvent(name, event, defaults);
  warnOfPatterns(`event "${name}"`, compiled.input, defaults.log);
  return compiled;
}

function compileMethod(name: string, method: MethodDefinition, { log, access }: Defaults): CompiledMethod {
  if (isProtocolMethod(name))
    throw new TypeError('the protocol already defines this method; choose another name');
  if (!name.includes('/')) throw new TypeError('its name needs a prefix, such as "acme/search"');
  checkFunction('run', method.run);
  const params = method.params && compileSchema(method.params, { io: 'input', requireObject: true });
  if (params !== undefined) warnOfPatterns(`method "${name}"`, params, log);
  return {
    params,
    run: method.run as CompiledMethod['run'],
    access: access.of({ kind: 'method', name }, {}),
  };
}
