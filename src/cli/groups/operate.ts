import type { CommandSummary } from '../command/definition.js';

/** Commands for servers that are running. */
export const operate: readonly CommandSummary[] = [];
