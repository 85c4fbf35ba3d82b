import type { SharedState } from '../cluster.js';
import { memoryStore } from './store.js';

/** The state of a server that has only this process, and keeps nothing of its own. */
export function stateOfOne(): SharedState {
  return { server: 'mcp', store: memoryStore(), bus: () => undefined, eventLog: () => undefined };
}
