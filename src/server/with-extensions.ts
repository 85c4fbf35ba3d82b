// Adds the extensions of a server to its options.

import { DefinitionError } from './catalog/compile.js';
import type { ServerExtension } from './define/extension.js';
import type { AnyServerOptions } from './define/options.js';

/** The options of a server with the parts of its extensions, and the extensions that are more than a declaration. */
export interface ExtendedOptions {
  readonly options: AnyServerOptions;
  readonly extensions: readonly ServerExtension[];
}

/** Reads the extensions of a server. Throws a `DefinitionError` for one that is not an extension. */
export function withExtensions(given: AnyServerOptions): ExtendedOptions {
  const { extensions, ...rest } = given;
  if (!Array.isArray(extensions)) return { options: given, extensions: [] };
  const wrong = extensions.findIndex((each) => typeof each?.extend !== 'function');
  if (wrong >= 0)
    throw new DefinitionError([
      `extensions[${wrong}] is not an extension; make one with extension({ … }) of fullmcp/extension, and await a promise of one`,
    ]);
  return {
    extensions,
    options: extensions.reduce<AnyServerOptions>((options, each) => each.extend(options), rest),
  };
}
