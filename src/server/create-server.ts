// Builds a server from its definitions, in four phases.

import { compileOptions } from './build/compile-options.js';
import type { CoreServer } from './build/core-server.js';
import { openServer } from './build/open-server.js';
import { openState } from './build/open-state.js';
import { type Plugins, wireMethods } from './build/wire-methods.js';
import type { AnyServerOptions } from './define/options.js';

/** Builds a server from its options. `index.ts` adds the types and the plugins. */
export function createServer<State, User, T, E = unknown>(
  options: AnyServerOptions,
  plugins: Plugins = {},
): CoreServer<State, User, T, E> {
  const compiled = compileOptions(options);
  const state = openState(compiled);
  const methods = wireMethods(compiled, state, plugins);
  return openServer(compiled, state, methods);
}
