// The changes that `transform` makes to definitions.

import type { Context } from '../../context/context.js';
import type { AccessRule } from '../../define/access.js';
import type { PromptReturn } from '../../define/prompt.js';
import type { ResourceContext } from '../../define/resource.js';
import type { TemplateValues } from '../../define/template-values.js';
import type { ToolAnnotations } from '../../define/tool.js';
import type { Awaitable } from '../../define/tool-handler.js';
import type { ToolResult } from '../../results/tool-result.js';

/** A change of any definition. */
export interface DefinitionChange extends AccessRule {
  /** Whether the definition does not exist: it is not listed, and nothing can use it. Default: false. */
  readonly hidden?: boolean;
  /** Another title. */
  readonly title?: string;
  /** Another description. */
  readonly description?: string;
  /** More tags. Rules of the server for these tags apply. */
  readonly tags?: readonly string[];
}

/** A change of an argument. */
export interface ArgumentChange {
  /** Another name. */
  readonly name?: string;
  /** Another title. */
  readonly title?: string;
  /** Another description. */
  readonly description?: string;
  /** The value that the handler gets if the caller leaves the argument out. JSON. */
  readonly default?: unknown;
  /** The value that the handler always gets. The argument is hidden, and callers cannot set it. JSON. */
  readonly value?: unknown;
  /** Whether the argument is not listed, and callers cannot set it. It must be optional, or have a `default`. Default: false. */
  readonly hidden?: boolean;
}

/** Changes of arguments, by name. */
export type ArgumentChanges = Readonly<Record<string, ArgumentChange>>;

/** A change of a tool. */
export interface ToolChange<Args = ArgumentChanges> extends DefinitionChange {
  /** Another name. */
  readonly name?: string;
  /** Changes of arguments, by name. */
  readonly args?: Args;
  /**
   * Runs instead of the handler. `input` is what the handler would get, after all changes of arguments; `next` runs the handler with
   * it, or with another one, and returns its result.
   */
  readonly run?: (
    input: Readonly<Record<string, unknown>>,
    ctx: Context,
    next: (input?: Readonly<Record<string, unknown>>) => Promise<ToolResult>,
  ) => unknown;
}

/** A change of a prompt. */
export interface PromptChange extends DefinitionChange {
  /** Another name. */
  readonly name?: string;
  /** Changes of arguments, by name. */
  readonly args?: ArgumentChanges;
  /** Runs instead of the handler. `next` runs the handler, with these arguments or with others. */
  readonly run?: (
    args: Readonly<Record<string, unknown>>,
    ctx: Context,
    next: (args?: Readonly<Record<string, unknown>>) => Promise<PromptReturn>,
  ) => Awaitable<PromptReturn>;
}

/** A change of a resource or a template. */
export interface ResourceChange extends DefinitionChange {
  /** Another URI. A template keeps its URIs. */
  readonly uri?: string;
  /** Another name for display. */
  readonly name?: string;
  /** Runs instead of the reader. `next` runs the reader and returns its value. */
  readonly read?: (
    values: TemplateValues,
    ctx: ResourceContext<unknown, unknown>,
    next: () => Promise<unknown>,
  ) => unknown;
}

/** A change of a type of events. */
export interface EventChange extends Omit<DefinitionChange, 'title'> {
  /** Another name. */
  readonly name?: string;
}

/** A definition, as the function `every` sees it. */
export interface ChangedDefinition {
  /** The kind of the definition. A template is a resource. */
  readonly kind: 'tool' | 'resource' | 'prompt' | 'event';
  /** The name of the tool, prompt or type of events; the URI, or the template, of the resource. */
  readonly name: string;
  /** The tags. */
  readonly tags: readonly string[];
  /** The hints about the behaviour of a tool. */
  readonly annotations: ToolAnnotations;
}

/** A change that `every` returns. */
interface EveryChange extends DefinitionChange {
  /** Another name. Of a resource: its name for display. */
  readonly name?: string;
}

/** The changes of `transform`. */
export interface Changes<Tools = Readonly<Record<string, ToolChange>>> {
  /** Changes of tools, by name. */
  readonly tools?: Tools;
  /** Changes of resources and templates, by URI. */
  readonly resources?: Readonly<Record<string, ResourceChange>>;
  /** Changes of prompts, by name. */
  readonly prompts?: Readonly<Record<string, PromptChange>>;
  /** Changes of types of events, by name. */
  readonly events?: Readonly<Record<string, EventChange>>;
  /** Called with each definition, those that are added later included. The change that it returns is made first. */
  readonly every?: (definition: ChangedDefinition) => EveryChange | undefined;
}

/** A change of a definition of any kind. */
export type AnyChange = DefinitionChange & Pick<ToolChange, 'name' | 'args'> & Pick<ResourceChange, 'uri'>;
