import type { CommandSummary } from '../command/definition.js';

/** Commands that write files for others out of a server. */
export const share: readonly CommandSummary[] = [
  {
    name: 'generate client',
    summary: 'write a typed client of a server',
    load: async () => (await import('../commands/share/generate.js')).generateClient,
  },
  {
    name: 'generate types',
    summary: 'write the types of a server',
    load: async () => (await import('../commands/share/generate.js')).generateTypes,
  },
  {
    name: 'generate cli',
    summary: 'write a program with a subcommand for each tool',
    load: async () => (await import('../commands/share/generate.js')).generateCli,
  },
  {
    name: 'generate docs',
    summary: 'write a reference of a server in Markdown',
    load: async () => (await import('../commands/share/generate.js')).generateDocs,
  },
  {
    name: 'card',
    summary: 'fetch, check or make the card of a server',
    load: async () => (await import('../commands/share/card.js')).card,
  },
  {
    name: 'bundle',
    summary: 'pack a project into an .mcpb file',
    load: async () => (await import('../commands/share/bundle.js')).bundle,
  },
  {
    name: 'publish',
    summary: 'write and check the server.json of the MCP registry',
    load: async () => (await import('../commands/share/publish.js')).publish,
  },
];
