// Serves the lists of definitions.

import type { Call, Outcome } from '../../protocol/call.js';
import type { DirectDispatch } from '../../protocol/direct.js';
import { McpError } from '../../protocol/errors.js';
import type { Gate } from '../access/gate.js';
import type { DefinitionList, Registry } from '../catalog/registry.js';
import { withToolErrors } from '../results/tool-error.js';
import type { Logger } from '../state/log.js';
import type { HandlerRunner } from './run-handler.js';

/** The functions that answer the methods which list definitions. */
export interface ListMethods {
  readonly listTools: DirectDispatch;
  readonly listPrompts: DirectDispatch;
  readonly listResources: DirectDispatch;
  readonly listTemplates: DirectDispatch;
}

/** The parts of the server that its lists need. */
export interface ListParts {
  readonly registry: Registry;
  readonly gate: Gate;
  readonly runner: HandlerRunner;
  readonly log: Logger;
}

/** Makes the functions that list definitions. */
export function listMethods({ registry, gate, runner, log }: ListParts): ListMethods {
  function checkOffered(kind: Exclude<DefinitionList, 'events'>): void {
    if (!registry.offers(kind)) throw new McpError('method_not_found', `This server has no ${kind}`);
  }

  // Loaded only if a template has `list`.
  async function listPerCaller(call: Call): Promise<Outcome> {
    const { listResources } = await import('../catalog/list-resources.js');
    return listResources(registry, call, { gate, withContext: runner.withContext, log });
  }

  async function listWithHandles(page: Outcome | Promise<Outcome>): Promise<Outcome> {
    const { withHandles } = await import('../references/listing.js');
    return withHandles(await page);
  }

  return {
    listTools(call) {
      checkOffered('tools');
      const page = registry.listedTools.page(call, call.params['cursor']);
      return registry.hasHandles ? listWithHandles(page) : page;
    },
    listPrompts(call) {
      checkOffered('prompts');
      return registry.prompts.page(call, call.params['cursor']);
    },
    listResources(call) {
      checkOffered('resources');
      if (registry.listsPerCaller()) return withToolErrors(listPerCaller(call));
      return registry.resources.page(call, call.params['cursor']);
    },
    listTemplates(call) {
      checkOffered('resources');
      return registry.templates.page(call, call.params['cursor']);
    },
  };
}
