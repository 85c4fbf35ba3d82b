import type { CommandSummary } from '../command/definition.js';

/** Commands for servers that are running. */
export const operate: readonly CommandSummary[] = [
  {
    name: 'doctor',
    summary: 'find out why a server does not work, step by step',
    load: async () => (await import('../commands/operate/doctor.js')).doctor,
  },
  {
    name: 'bench',
    summary: 'measure the times of many requests',
    load: async () => (await import('../commands/operate/bench.js')).bench,
  },
  {
    name: 'proxy',
    summary: 'serve other servers as one, on stdio or over HTTP',
    load: async () => (await import('../commands/operate/proxy.js')).proxy,
  },
];
