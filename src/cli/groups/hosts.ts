import type { CommandSummary } from '../command/definition.js';

/** Commands for the programs that use servers. */
export const hosts: readonly CommandSummary[] = [];
