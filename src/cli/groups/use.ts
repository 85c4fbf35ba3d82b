import type { CommandSummary } from '../command/definition.js';

/** Commands that talk to a server. */
export const use: readonly CommandSummary[] = [
  {
    name: 'list',
    summary: 'show what a server offers',
    load: async () => (await import('../commands/use/list.js')).list,
  },
  {
    name: 'call',
    summary: 'call a tool',
    load: async () => (await import('../commands/use/call.js')).call,
  },
  {
    name: 'info',
    summary: 'show what a server says about itself',
    load: async () => (await import('../commands/use/info.js')).info,
  },
  {
    name: 'ping',
    summary: 'measure the time of small requests',
    load: async () => (await import('../commands/use/ping.js')).ping,
  },
];
