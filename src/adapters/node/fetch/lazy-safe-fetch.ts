import type { SafeFetch } from '../../../oauth/fetch/safe-fetch.js';
import type { NodeSafeFetchOptions } from './node-safe-fetch.js';

// The hardened fetch of the runtime. The code for Node is loaded when it is needed, so that other runtimes never load it.

/** Whether the modules of Node are there. Workers have some of them, but not those that open connections. */
export function hasNode(): boolean {
  const others = ['WebSocketPair', 'EdgeRuntime', 'document'];
  return globalThis.process?.versions?.node !== undefined && !others.some((name) => name in globalThis);
}

/** The hardened fetch, loaded with the first request. */
export function lazySafeFetch(options: NodeSafeFetchOptions): SafeFetch {
  let fetch: Promise<SafeFetch> | undefined;
  const load = async (): Promise<SafeFetch> =>
    hasNode()
      ? (await import('./node-safe-fetch.js')).nodeSafeFetch(options)
      : (await import('../../../oauth/fetch/over-web-fetch.js')).webSafeFetch(options);
  return async function safeFetch(url, init) {
    fetch ??= load();
    return (await fetch)(url, init);
  };
}
