import { type OptionTable, readOptions } from '../protocol/checks/options.js';
import type { Infer, SchemaLike, Sent } from '../schema/schema.js';
import { DefinitionError } from './catalog/compile.js';
import type { ServerSetup } from './define/options.js';
import { type Prompt, type PromptDefinition, prompt } from './define/prompt.js';
import { type Resource, type ResourceDefinition, resource } from './define/resource.js';
import type { TemplateValues } from './define/template-values.js';
import { type Tool, type ToolDefinition, tool } from './define/tool.js';
import type { Literals, ToolValue } from './define/tool-handler.js';

// The definition functions, with the types of `ctx.state` and `ctx.user`.

/** `tool`, `resource` and `prompt` with the types of `ctx.state` and `ctx.user`, for definitions in files of their own. */
export interface Definers<State, User> {
  /** Defines a tool: something that the model can do. */
  readonly tool: <
    In extends SchemaLike | undefined = undefined,
    Out extends SchemaLike | undefined = undefined,
    Returned = Literals,
    const Handle extends boolean = false,
  >(
    definition: ToolDefinition<In, Out, State, User, Returned, Handle>,
  ) => Tool<(args: Sent<In>) => ToolValue<Out, Returned, Handle>, State, User>;
  /** Defines a resource or, where its URI has braces, a template: something that the client can read. */
  readonly resource: <Values = TemplateValues>(
    definition: ResourceDefinition<State, User, Values>,
  ) => Resource<State, User, Values>;
  /** Defines a prompt: a message template that the user picks. */
  readonly prompt: <Args extends SchemaLike | undefined = undefined>(
    definition: PromptDefinition<Args, State, User>,
  ) => Prompt<Infer<Args>, State, User>;
}

const setupTable = { lifespan: 'function', user: 'function' } as const satisfies OptionTable<
  ServerSetup<never, never>
>;

/** Makes the definition functions; `create` builds a server from all its options. */
export function makeDefiners(setup: object | undefined, create: (options: object) => object): object {
  if (setup === undefined) return { tool, resource, prompt };
  readOptions<ServerSetup<never, never>, typeof setupTable>('defineWith', setup, setupTable);
  return { tool, resource, prompt, createServer };

  function createServer(options: object): object {
    const duplicates = Object.keys(setupTable).filter((key) => Object.hasOwn(options, key));
    if (duplicates.length > 0)
      throw new DefinitionError(
        duplicates.map(
          (key) => `"${key}" was already passed to defineWith; remove it from the options of createServer`,
        ),
      );
    return create({ ...options, ...setup });
  }
}
