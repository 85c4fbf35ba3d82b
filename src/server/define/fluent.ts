// Definitions in the fluent form: server.tool('add').description('Adds').input(schema).run(({ a, b }) => a + b).

import type { SchemaLike } from '../../schema/schema.js';
import { type DefinitionKind, definitionKeys } from './definition-tables.js';
import type { PromptHandler, PromptOptions } from './prompt.js';
import type { ResourceOptions, ResourceReader } from './resource.js';
import type { ToolOptions } from './tool.js';
import type { Literals, ToolHandler, ToolModule } from './tool-handler.js';

/** A tool that is being defined. Each method sets an option of `tool()`; `run` or `load` adds the tool to the server. */
export type ToolBuilder<In, Out, State, User, Added> = {
  readonly [Key in Exclude<keyof ToolOptions, 'input' | 'output'>]-?: (
    value: Given<ToolOptions<In, Out>, Key>,
  ) => ToolBuilder<In, Out, State, User, Added>;
} & {
  /** Sets the arguments, as a schema of an object. */
  readonly input: <NewIn extends SchemaLike>(schema: NewIn) => ToolBuilder<NewIn, Out, State, User, Added>;
  /** Sets the result, as a schema. */
  readonly output: <NewOut extends SchemaLike>(schema: NewOut) => ToolBuilder<In, NewOut, State, User, Added>;
  /** Adds the tool with this handler. Throws if the name is taken. */
  readonly run: <Returned = Literals>(handler: ToolHandler<In, Out, State, User, Returned>) => Added;
  /** Adds the tool. Its handler is loaded with the first call. Throws if the name is taken. */
  readonly load: <Returned = Literals>(
    load: () => Promise<ToolModule<ToolHandler<In, Out, State, User, Returned>>>,
  ) => Added;
};

/** A resource or a template that is being defined. Each method sets an option of `resource()`; `read` adds it to the server. */
export type ResourceBuilder<Values, State, User, Added> = {
  readonly [Key in keyof ResourceOptions]-?: (
    value: Given<ResourceOptions<State, User, Values>, Key>,
  ) => ResourceBuilder<Values, State, User, Added>;
} & {
  /** Adds the resource with this reader. Throws if the URI is taken. */
  readonly read: (read: ResourceReader<Values, State, User>) => Added;
};

/** A prompt that is being defined. Each method sets an option of `prompt()`; `run` adds the prompt to the server. */
export type PromptBuilder<Args, State, User, Added> = {
  readonly [Key in Exclude<keyof PromptOptions, 'args'>]-?: (
    value: Given<PromptOptions<Args, State, User>, Key>,
  ) => PromptBuilder<Args, State, User, Added>;
} & {
  /** Sets the arguments, as a schema of an object whose fields are strings. */
  readonly args: <NewArgs extends SchemaLike>(schema: NewArgs) => PromptBuilder<NewArgs, State, User, Added>;
  /** Adds the prompt with this handler. Throws if the name is taken. */
  readonly run: (handler: PromptHandler<Args, State, User>) => Added;
};

type Given<Options, Key extends keyof Options> = Exclude<Options[Key], undefined>;

const HANDLERS: readonly string[] = ['run', 'load', 'read'];

/** Makes a builder: a method for each key of the definition. The one that takes the handler finishes the definition. */
export function fluently<Added>(
  kind: DefinitionKind,
  finish: (definition: object) => Added,
  given: object = {},
): object {
  const methods = definitionKeys(kind).map((key) => [
    key,
    (value: unknown) => {
      const next = { ...given, [key]: value };
      return HANDLERS.includes(key) ? finish(next) : fluently(kind, finish, next);
    },
  ]);
  return Object.fromEntries(methods);
}
