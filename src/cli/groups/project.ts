import type { CommandSummary } from '../command/definition.js';

/** Commands for a server of your own. */
export const project: readonly CommandSummary[] = [];
