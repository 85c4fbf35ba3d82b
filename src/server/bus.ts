/** Something that clients may want to know of. */
export type Change =
  | { readonly kind: 'tools' | 'prompts' | 'resources' }
  | { readonly kind: 'resource'; readonly uri: string }
  | { readonly kind: 'task'; readonly id: string };

/** Carries changes from whoever makes them to whoever listens. One process needs no more than `localBus`. */
export interface Bus {
  publish(change: Change): void;
  /** Returns a function that ends the subscription. */
  subscribe(listener: (change: Change) => void): () => void;
}

export function localBus(): Bus {
  const listeners = new Set<(change: Change) => void>();
  return {
    publish(change) {
      for (const listener of [...listeners]) listener(change);
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** Tells clients that something changed. */
export interface Changed {
  readonly tools: () => void;
  readonly prompts: () => void;
  readonly resources: () => void;
  /** The contents of one resource changed. */
  readonly resource: (uri: string) => void;
}

export function changedOver(publish: (change: Change) => void): Changed {
  return {
    tools: () => publish({ kind: 'tools' }),
    prompts: () => publish({ kind: 'prompts' }),
    resources: () => publish({ kind: 'resources' }),
    resource: (uri) => publish({ kind: 'resource', uri }),
  };
}
