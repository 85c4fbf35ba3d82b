// Makes the definitions of a server. Their code is loaded with the first use.

import type { CheckedDefinitionsOf, DefinitionsOf, ServerDefinitions } from '../define/definitions.js';
import type { EntranceParts } from './entrance.js';

/** Makes the definitions of a server. */
export function definitionsOf(parts: () => EntranceParts): ServerDefinitions {
  const read = () => import('./read-definitions.js');
  const listing = <Listed>(kind: keyof ServerDefinitions): DefinitionsOf<Listed> => ({
    list: async (view) => (await read()).listDefinitions(parts(), kind, view) as Promise<readonly Listed[]>,
    get: async (name, view) =>
      (await read()).getDefinition(parts(), kind, name, view) as Promise<Listed | undefined>,
  });
  const checking = <Listed>(kind: 'tools' | 'prompts'): CheckedDefinitionsOf<Listed> => ({
    ...listing<Listed>(kind),
    validate: async (name, args = {}, view = {}) =>
      (await read()).validateArguments(parts(), kind, { name, args, view }),
  });
  return {
    tools: checking('tools'),
    prompts: checking('prompts'),
    resources: listing('resources'),
    templates: listing('templates'),
  };
}
