// The definitions of a server, as its own program lists, looks up and checks them.

import type { AuthInit } from '../../protocol/caller.js';
import type { ListedPrompt, ListedResource, ListedTemplate, ListedTool } from '../../protocol/model/model.js';

/** The point of view of a question about definitions. */
export interface DefinitionView {
  /** A caller: only the definitions that this caller may use count. `subject` alone is enough. Default: all definitions. */
  readonly caller?: AuthInit;
}

/** The definitions of one kind, as clients list them. */
export interface DefinitionsOf<Listed> {
  /** All definitions, in the order of the list. */
  readonly list: (view?: DefinitionView) => Promise<readonly Listed[]>;
  /** The definition with a name, or with a URI; undefined if there is none, or not for the caller. */
  readonly get: (name: string, view?: DefinitionView) => Promise<Listed | undefined>;
}

/** The arguments as the handler would get them, or the reason why they are not valid. */
export type ArgumentsCheck =
  | {
      /** The arguments are valid. */
      readonly ok: true;
      /** The arguments as the handler gets them: coerced, with defaults. */
      readonly value: unknown;
    }
  | {
      /** The arguments are not valid. */
      readonly ok: false;
      /** The text that the caller would read. */
      readonly message: string;
      /** The path of the first argument that is missing or wrong; undefined if all of them together are. */
      readonly field: string | undefined;
    };

/** The definitions of a kind that have arguments. */
export interface CheckedDefinitionsOf<Listed> extends DefinitionsOf<Listed> {
  /** Checks arguments without a call. If the name is unknown, or not for the caller, or not with them, throws the error of a call. */
  readonly validate: (name: string, args?: object, view?: DefinitionView) => Promise<ArgumentsCheck>;
}

/** The definitions of a server, mounted ones and those that were added later included. */
export interface ServerDefinitions {
  /** The tools by name. With the option `search`: the tools that can be found. */
  readonly tools: CheckedDefinitionsOf<ListedTool>;
  /** The prompts by name. */
  readonly prompts: CheckedDefinitionsOf<ListedPrompt>;
  /** The resources with a fixed URI, by URI. */
  readonly resources: DefinitionsOf<ListedResource>;
  /** The templates by their URI with braces. */
  readonly templates: DefinitionsOf<ListedTemplate>;
}
