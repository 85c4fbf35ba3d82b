import type { CommandSummary } from '../command/definition.js';

/** Commands that check what a server offers. */
export const check: readonly CommandSummary[] = [];
