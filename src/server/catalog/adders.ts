// The functions that add definitions to a running server.

import type { SchemaLike } from '../../schema/schema.js';
import type { ExtensionHost } from '../define/extension.js';
import { fluently, type PromptBuilder, type ResourceBuilder, type ToolBuilder } from '../define/fluent.js';
import { type Prompt, type PromptHandler, type PromptOptions, prompt } from '../define/prompt.js';
import { type Resource, type ResourceOptions, type ResourceReader, resource } from '../define/resource.js';
import type { VariablesOf } from '../define/template-values.js';
import { type Tool, type ToolOptions, tool } from '../define/tool.js';
import type { Literals, ToolHandler } from '../define/tool-handler.js';
import type { Registration } from './registry.js';

/** Adds a tool to a running server. */
export interface AddTool<State, User> {
  /** Begins a tool: `server.tool('add').input(schema).run(({ a, b }) => a + b)`. */
  (name: string): ToolBuilder<undefined, undefined, State, User, Registration>;
  /** Adds a tool. Throws if the name is taken. */
  <
    In extends SchemaLike | undefined = undefined,
    Out extends SchemaLike | undefined = undefined,
    Returned = Literals,
  >(
    name: string,
    options: ToolOptions<In, Out>,
    run: ToolHandler<In, Out, State, User, Returned>,
  ): Registration;
}

/** Adds a resource or a template to a running server. */
export interface AddResource<State, User> {
  /** Begins a resource: `server.resource('users://{id}').read(({ id }) => id)`. */
  <const Uri extends string>(uri: Uri): ResourceBuilder<VariablesOf<Uri>, State, User, Registration>;
  /** Adds a resource. Throws if the URI is taken. */
  <const Uri extends string>(
    uri: Uri,
    options: ResourceOptions<State, User, VariablesOf<Uri>>,
    read: ResourceReader<VariablesOf<Uri>, State, User>,
  ): Registration;
}

/** Adds a prompt to a running server. */
export interface AddPrompt<State, User> {
  /** Begins a prompt: `server.prompt('review').args(schema).run(({ code }) => code)`. */
  (name: string): PromptBuilder<undefined, State, User, Registration>;
  /** Adds a prompt. Throws if the name is taken. */
  <Args extends SchemaLike | undefined = undefined>(
    name: string,
    options: PromptOptions<Args, State, User>,
    run: PromptHandler<Args, State, User>,
  ): Registration;
}

/** The functions that add definitions. */
interface Adders<State, User> {
  readonly tool: AddTool<State, User>;
  readonly resource: AddResource<State, User>;
  readonly prompt: AddPrompt<State, User>;
}

const makers = { tool, resource, prompt } as unknown as Readonly<
  Record<'tool' | 'resource' | 'prompt', (definition: object) => Tool | Resource | Prompt>
>;

/** Makes the functions that add definitions. */
export function addersOf<State, User>(define: ExtensionHost['define']): Adders<State, User> {
  const adder =
    (kind: keyof typeof makers, handler: string) => (name: string, options?: object, run?: unknown) => {
      const add = (definition: object): Registration => define(kind, name, makers[kind](definition));
      return (options === undefined ? fluently(kind, add) : add({ ...options, [handler]: run })) as never;
    };
  return { tool: adder('tool', 'run'), resource: adder('resource', 'read'), prompt: adder('prompt', 'run') };
}
