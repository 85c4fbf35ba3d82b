// The `dispatch` of a server: middleware, then the handler of the call's method.

import { type Call, compose, type Dispatch, type Middleware, type Outcome } from '../../protocol/call.js';
import { fromDirect } from '../../protocol/direct.js';
import { copyError, McpError } from '../../protocol/errors.js';
import { notFound } from '../../protocol/not-found.js';
import { callEvents } from '../../protocol/telemetry/tracing.js';
import type { Registry } from '../catalog/registry.js';
import type { MapError } from '../results/map-error.js';
import { toolFailure } from '../results/results.js';
import { mask, ToolError } from '../results/tool-error.js';
import type { Behaviour } from '../state/behaviours.js';
import type { Logger } from '../state/log.js';
import type { MethodTable } from './methods.js';

/** The parts of a server that its `dispatch` needs. */
export interface DispatchParts {
  /** The name of the server. */
  readonly server: string;
  readonly registry: Registry;
  readonly methods: MethodTable['methods'];
  /** The server's middleware, the first outermost. */
  readonly use: readonly Middleware[];
  readonly mapError: MapError;
  readonly log: Logger;
  /** The changed defaults that hold for the server. */
  readonly on: ReadonlySet<Behaviour>;
}

/** The number of the error for an unknown resource before 2026-07-28. */
const OLD_MISSING_RESOURCE = -32002;

/** Makes the function that answers every call to a server. Without middleware, a synchronous handler is answered synchronously. */
export function createDispatch(parts: DispatchParts): Dispatch {
  const { server, registry, methods, use, mapError, log, on } = parts;
  return use.length === 0 ? fromDirect(dispatch) : throughMiddleware();

  // A call that is traced enters twice: a function in between would be one more frame in every stack trace.
  function dispatch(call: Call, isTraced = false): Outcome | Promise<Outcome> {
    registry.inUse = true;
    if (callEvents?.hasSubscribers && !isTraced)
      return callEvents.tracePromise(async () => dispatch(call, true), { side: 'server', server, call });
    try {
      const handler = handlerOf(call.method);
      const outcome = handler(call);
      return outcome instanceof Promise ? outcome.catch((error) => handleError(error, call)) : outcome;
    } catch (error) {
      return handleError(error, call);
    }
  }

  // Middleware needs a promise, and a call that it may spread. Asynchronous functions around it would cost each call several turns.
  function throughMiddleware(): (call: Call, isTraced?: boolean) => Promise<Outcome> {
    const composed = compose(use, answer);
    return function dispatch(call, isTraced = false): Promise<Outcome> {
      registry.inUse = true;
      if (callEvents?.hasSubscribers && !isTraced)
        return callEvents.tracePromise(() => dispatch(call, true), { side: 'server', server, call });
      try {
        return Promise.resolve(composed(call)).catch((error) => handleError(error, call));
      } catch (error) {
        return handleError(error, call);
      }
    };
  }

  function answer(call: Call): Promise<Outcome> {
    try {
      return Promise.resolve(handlerOf(call.method)(call));
    } catch (error) {
      return Promise.reject(error);
    }
  }

  function handlerOf(method: string): (call: Call) => Outcome | Promise<Outcome> {
    const handler = methods.get(method);
    if (handler !== undefined) return handler;
    throw notFound('method', method);
  }

  function numbered(error: McpError): McpError {
    if (error.code !== 'resource_not_found' || on.has('missing-resource-as-invalid-params')) return error;
    return copyError(error, { number: OLD_MISSING_RESOURCE });
  }

  // The errors of a tool are handled where it runs. These errors come from middleware, `user`, prompts and resources.
  async function handleError(error: unknown, call: Call): Promise<Outcome> {
    const replacement = McpError.is(error) || ToolError.is(error) ? error : await mapError(error, call);
    if (McpError.is(replacement)) throw numbered(replacement);
    if (replacement === undefined)
      throw new McpError('internal_error', mask(error, `Method "${call.method}"`, log), { cause: error });
    // The model reads the results of tools. The results of other methods cannot describe a failure.
    if (call.method === 'tools/call') return registry.complete(toolFailure(replacement.message));
    throw new McpError('internal_error', replacement.message, { cause: replacement });
  }
}
