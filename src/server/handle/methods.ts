// The methods that a server answers.

import type { Call } from '../../protocol/call.js';
import type { DirectDispatch } from '../../protocol/direct.js';
import { McpError } from '../../protocol/errors.js';
import { notFound } from '../../protocol/not-found.js';
import { type CompiledMethod, DefinitionError } from '../catalog/compile.js';
import type { Registration, Registry } from '../catalog/registry.js';
import type { ToolCalls } from './call-tool.js';
import type { EventHost } from './event-host.js';
import type { ListMethods } from './lists.js';
import type { ResourceReads } from './read-resource.js';
import type { TaskHost } from './task-host.js';

/** The functions that answer the methods of a server. */
export interface MethodHandlers
  extends ListMethods,
    Pick<ToolCalls, 'callTool'>,
    Pick<ResourceReads, 'readResource'> {
  readonly getPrompt: DirectDispatch;
  readonly complete: DirectDispatch;
  readonly listen: DirectDispatch;
  readonly tasks: TaskHost | undefined;
  readonly events: EventHost | undefined;
  readonly registry: Registry;
  /** Describes the server, unless the client does more in a session. Default: always. */
  readonly discover?: DirectDispatch | undefined;
  /** Whether the server has this tool, but only for clients that need it. */
  readonly defines?: (tool: string) => boolean;
  /** Makes the function that answers a custom method. */
  readonly custom: (method: CompiledMethod) => DirectDispatch;
}

/** The methods of a server. */
export interface MethodTable {
  /** The functions that answer them, by name. */
  readonly methods: ReadonlyMap<string, DirectDispatch>;
  /** Adds a custom method. Throws if there is one of the same name. */
  readonly addMethod: (name: string, method: CompiledMethod) => Registration;
  /** Whether there is the method that a call names, and the tool or prompt. */
  readonly defines: (call: Call) => boolean;
}

/** Makes the table of all methods that the server answers: those of the protocol, and `own`, which the program defines. */
export function methodTable(handlers: MethodHandlers, own: ReadonlyMap<string, CompiledMethod>): MethodTable {
  const { registry, tasks, events, custom } = handlers;
  const methods = new Map<string, DirectDispatch>([
    ['server/discover', handlers.discover ?? (() => registry.discover())],
    ['tools/list', handlers.listTools],
    ['tools/call', handlers.callTool],
    ['resources/list', handlers.listResources],
    ['resources/templates/list', handlers.listTemplates],
    ['resources/read', handlers.readResource],
    ['prompts/list', handlers.listPrompts],
    ['prompts/get', handlers.getPrompt],
    ['completion/complete', handlers.complete],
    ['subscriptions/listen', handlers.listen],
  ]);
  for (const [name, method] of own) methods.set(name, custom(method));
  for (const [name, serve] of tasks?.methods ?? []) methods.set(name, ifOffered(serve));
  // A server without events may have methods of its own with these names.
  for (const [name, serve] of events?.methods ?? [])
    if (!methods.has(name)) methods.set(name, ifSubscribable(serve));
  return { methods, addMethod, defines };

  function addMethod(name: string, method: CompiledMethod): Registration {
    if (methods.has(name)) throw new DefinitionError([`the method "${name}" is defined twice`]);
    methods.set(name, custom(method));
    return { remove: () => void methods.delete(name) };
  }

  function defines({ method, params }: Call): boolean {
    const name = String(params['name']);
    if (method === 'tools/call')
      return registry.tools.get(name) !== undefined || handlers.defines?.(name) === true;
    if (method === 'prompts/get') return registry.prompts.get(name) !== undefined;
    return methods.has(method) && (registry.offersEvents || !isEventMethod(method));
  }

  function isEventMethod(method: string): boolean {
    return events?.methods.has(method) === true && !own.has(method);
  }

  function ifSubscribable(serve: DirectDispatch): DirectDispatch {
    return async function serveEvents(call) {
      if (registry.offersEvents) return serve(call);
      throw notFound('method', call.method);
    };
  }

  function ifOffered(serve: DirectDispatch): DirectDispatch {
    return async function serveTask(call) {
      if (registry.offersTasks()) return serve(call);
      throw new McpError('method_not_found', 'This server has no tools that run as tasks');
    };
  }
}
