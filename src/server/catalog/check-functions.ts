// Checks of the options that must be functions. Without them, the mistake would show only in a call.

import type { Middleware } from '../../protocol/call.js';
import type { Completer } from '../define/definition.js';
import { NOT_A_GENERATOR } from '../state/lifespan.js';

/** The mistakes in the functions of a server that its table of options does not find. */
export function serverFunctionProblems(options: Readonly<Record<string, unknown>>): readonly string[] {
  // A plain function may return a generator, which only its call shows. An async one returns a promise.
  const isPromise = Object.prototype.toString.call(options['lifespan']) === '[object AsyncFunction]';
  const hasUse = options['use'] === undefined || isMiddleware(options['use']);
  return [...(isPromise ? [`"lifespan": ${NOT_A_GENERATOR}`] : []), ...(hasUse ? [] : [NOT_MIDDLEWARE])];
}

const NOT_MIDDLEWARE = '"use" must be an array of functions: [(call, next) => next(call)]';

function isMiddleware(use: unknown): boolean {
  return Array.isArray(use) && use.every((middleware) => typeof middleware === 'function');
}

/** Reads the middleware of a tool; undefined if there is none. Throws if it is not an array of functions. */
export function readMiddleware(use: readonly Middleware[] | undefined): readonly Middleware[] | undefined {
  if (use === undefined) return undefined;
  if (!isMiddleware(use)) throw new TypeError(NOT_MIDDLEWARE);
  return use.length === 0 ? undefined : use;
}

/** Throws if a part of a definition is missing or is not a function. */
export function checkFunction(name: string, value: unknown): void {
  if (value === undefined) throw new TypeError(`it has no "${name}"`);
  if (typeof value !== 'function') throw new TypeError(`"${name}" must be a function`);
}

/** Reads the completers of a prompt or a template. Throws if one of them is not a function. */
export function readCompleters(complete: object = {}): Map<string, Completer> {
  const completers = new Map<string, Completer>(Object.entries(complete));
  for (const [name, completer] of completers) {
    if (typeof completer !== 'function')
      throw new TypeError(`"complete.${name}" must be a function: (prefix) => ['…']`);
  }
  return completers;
}
