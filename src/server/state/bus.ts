// Carries announcements of changes to subscribers, in this process or in all processes.

/** A change that clients may subscribe to. */
export type BusMessage =
  | {
      /** The list that changed. */
      readonly kind: 'tools' | 'prompts' | 'resources';
    }
  | {
      /** The contents of one resource changed. */
      readonly kind: 'resource';
      /** The URI of the resource. */
      readonly uri: string;
    }
  | {
      /** The state of a task changed. */
      readonly kind: 'task';
      /** The id of the task. */
      readonly id: string;
    };

/** Carries changes to subscribers. If several processes serve the same clients, implement it with Redis or another broker. */
export interface Bus {
  /** Sends a change to all subscribers, in this process and in others. */
  publish(change: BusMessage): void;
  /** Calls `listener` with every change from now on. Returns a function that ends the subscription. */
  subscribe(listener: (change: BusMessage) => void): () => void;
}

/** Makes a bus for the subscribers of this process. */
export function localBus(): Bus {
  const listeners = new Set<(change: BusMessage) => void>();
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

/** Announces changes to subscribed clients. */
export interface Changed {
  /** Announces that the list of tools changed. */
  readonly tools: () => void;
  /** Announces that the list of prompts changed. */
  readonly prompts: () => void;
  /** Announces that the list of resources or templates changed. */
  readonly resources: () => void;
  /** Announces that the contents of one resource changed. */
  readonly resource: (uri: string) => void;
}

/** Makes the functions that announce changes. */
export function changedOver(publish: (change: BusMessage) => void): Changed {
  return {
    tools: () => publish({ kind: 'tools' }),
    prompts: () => publish({ kind: 'prompts' }),
    resources: () => publish({ kind: 'resources' }),
    resource: (uri) => publish({ kind: 'resource', uri }),
  };
}
