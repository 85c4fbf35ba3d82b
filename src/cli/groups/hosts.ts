import type { CommandSummary } from '../command/definition.js';

/** Commands for the programs that use servers. */
export const hosts: readonly CommandSummary[] = [
  {
    name: 'install',
    summary: 'add a server to a host such as Claude or Cursor',
    load: async () => (await import('../commands/hosts/install.js')).install,
  },
  {
    name: 'uninstall',
    summary: 'remove a server from a host',
    load: async () => (await import('../commands/hosts/uninstall.js')).uninstall,
  },
  {
    name: 'discover',
    summary: 'list the servers that hosts already have',
    load: async () => (await import('../commands/hosts/discover.js')).discover,
  },
];
