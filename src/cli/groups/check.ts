import type { CommandSummary } from '../command/definition.js';

/** Commands that check what a server offers. */
export const check: readonly CommandSummary[] = [
  {
    name: 'inspect',
    summary: 'print everything that a server offers, or open the inspector (--ui)',
    load: async () => (await import('../commands/check/inspect.js')).inspect,
  },
  {
    name: 'diff',
    summary: 'show what changed between two servers or manifests',
    load: async () => (await import('../commands/check/diff.js')).diff,
  },
  {
    name: 'lint',
    summary: 'find what models and their vendors trip over',
    load: async () => (await import('../commands/check/lint.js')).lint,
  },
  {
    name: 'lock',
    summary: 'pin what servers offer in a lock file',
    load: async () => (await import('../commands/check/lock.js')).lock,
  },
  {
    name: 'verify',
    summary: 'compare what servers offer with a lock file',
    load: async () => (await import('../commands/check/verify.js')).verify,
  },
  {
    name: 'record',
    summary: 'record the traffic with a server on a tape',
    load: async () => (await import('../commands/check/record.js')).record,
  },
  {
    name: 'replay',
    summary: 'run a tape against another server and compare the results',
    load: async () => (await import('../commands/check/replay.js')).replay,
  },
  {
    name: 'conformance',
    summary: 'run the official conformance suite',
    load: async () => (await import('../commands/check/conformance.js')).conformance,
  },
];
