import { isProtocolMethod } from '../protocol/methods.js';
import { type CompiledSchema, compileSchema } from '../schema/compile.js';
import type { Context } from './context.js';
import type { Prompt, Resource, Tool } from './define.js';
import type { Log } from './log.js';
import { type CompiledPrompt, compilePrompt } from './prompts.js';
import { type CompiledResource, type CompiledTemplate, compileResource } from './resources.js';
import { type CompiledTool, compileTool, type ToolDefaults } from './tools.js';

/** Every mistake in a server's definitions, in one error. */
export class DefinitionError extends TypeError {
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

/** Definitions as the user wrote them. */
export interface Definitions {
  readonly name?: unknown;
  readonly version?: unknown;
  readonly tools?: Readonly<Record<string, unknown>> | undefined;
  readonly resources?: Readonly<Record<string, unknown>> | undefined;
  readonly prompts?: Readonly<Record<string, unknown>> | undefined;
  readonly methods?: Readonly<Record<string, unknown>> | undefined;
}

export interface CompiledMethod {
  readonly params: CompiledSchema | undefined;
  readonly run: (params: unknown, ctx: Context) => unknown;
}

export interface Compiled {
  readonly tools: ReadonlyMap<string, CompiledTool>;
  readonly resources: ReadonlyMap<string, CompiledResource | CompiledTemplate>;
  readonly prompts: ReadonlyMap<string, CompiledPrompt>;
  readonly methods: ReadonlyMap<string, CompiledMethod>;
}

/** Compiles everything and only then complains, so that all mistakes are seen at once. */
export function compileDefinitions(
  definitions: Definitions,
  defaults: ToolDefaults & { readonly log: Log },
): Compiled {
  const problems: string[] = [];
  for (const field of ['name', 'version'] as const) {
    if (typeof definitions[field] !== 'string' || definitions[field] === '') {
      problems.push(`"${field}" must be a text that is not empty`);
    }
  }
  const compileAll = <D, C>(
    kind: string,
    group: Readonly<Record<string, unknown>> | undefined,
    compile: (name: string, definition: D) => C,
  ): Map<string, C> => {
    const compiled = new Map<string, C>();
    if (Array.isArray(group)) {
      problems.push(`"${kind}s" must be an object with the names as keys, not a list`);
      return compiled;
    }
    for (const [name, definition] of Object.entries(group ?? {})) {
      try {
        const isOfKind = kind === 'method' || (definition as { kind?: unknown } | null)?.kind === kind;
        if (typeof definition !== 'object' || definition === null || !isOfKind) {
          throw new TypeError(`it is not a definition; make one with ${kind}({ … })`);
        }
        compiled.set(name, compile(name, definition as D));
      } catch (error) {
        problems.push(`${kind} "${name}": ${error instanceof Error ? error.message : String(error)}`);
      }
    }
    return compiled;
  };
  const compiled = {
    tools: compileAll('tool', definitions.tools, (name, tool: Tool) => checkedTool(name, tool, defaults)),
    resources: compileAll('resource', definitions.resources, (uri, resource: Resource) =>
      compileResource(uri, resource),
    ),
    prompts: compileAll('prompt', definitions.prompts, (name, prompt: Prompt) => compilePrompt(name, prompt)),
    methods: compileAll('method', definitions.methods, compileMethod),
  };
  if (problems.length > 0) throw new DefinitionError(problems);
  return compiled;
}

/** Compiles a tool and warns of names that some clients cannot use. */
export function checkedTool(
  name: string,
  tool: Tool,
  { log, ...defaults }: ToolDefaults & { readonly log: Log },
): CompiledTool {
  const compiled = compileTool(name, tool, defaults);
  if (name.length > 64) log('warning', `tool "${name}": some clients refuse names over 64 characters`);
  if (name.includes('.')) log('warning', `tool "${name}": some clients refuse names with a dot`);
  return compiled;
}

function compileMethod(name: string, method: MethodDefinition): CompiledMethod {
  if (isProtocolMethod(name)) throw new TypeError('the protocol itself defines this method');
  if (!name.includes('/')) throw new TypeError('name it with a prefix, such as "acme/search"');
  if (typeof method.run !== 'function') throw new TypeError('it has no "run"');
  const params = method.params && compileSchema(method.params, { io: 'input', requireObject: true });
  return { params, run: method.run as CompiledMethod['run'] };
}
