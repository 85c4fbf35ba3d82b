import type { CommandSummary } from '../command/definition.js';

/** Commands for a server of your own. */
export const project: readonly CommandSummary[] = [
  {
    name: 'new',
    summary: 'make a project with a server, its test and its configuration',
    load: async () => (await import('../commands/project/new.js')).newProject,
  },
  {
    name: 'dev',
    summary: 'serve a file, and reload it on save without dropping clients',
    load: async () => (await import('../commands/project/dev.js')).dev,
  },
  {
    name: 'run',
    summary: 'serve a file, a URL or a config',
    load: async () => (await import('../commands/project/run.js')).run,
  },
];
