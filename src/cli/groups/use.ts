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
    name: 'read',
    summary: 'read a resource',
    load: async () => (await import('../commands/use/read.js')).read,
  },
  {
    name: 'prompt',
    summary: 'get the messages of a prompt',
    load: async () => (await import('../commands/use/prompt.js')).prompt,
  },
  {
    name: 'complete',
    summary: 'complete an argument of a prompt or a resource',
    load: async () => (await import('../commands/use/complete.js')).complete,
  },
  {
    name: 'tasks',
    summary: 'look at a task, answer it, wait for it, cancel it',
    load: async () => (await import('../commands/use/tasks.js')).tasks,
  },
  {
    name: 'subscribe',
    summary: 'print changes and log messages',
    load: async () => (await import('../commands/use/subscribe.js')).subscribe,
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
  {
    name: 'completion',
    summary: 'print a script for the completion of a shell',
    load: async () => (await import('../commands/use/completion.js')).completion,
  },
];
