// Announcements of changes, for subscribed clients of this process and of others.

/** The longest time that a response waits for the bus. */
export const MAX_TELL_MS = 1000;

/** A change that a server announces: of a list, or of the contents of a resource. */
export type Announcement =
  | {
      /** The list that changed. */
      readonly kind: 'tools' | 'prompts' | 'resources';
      /** The definition that was added or removed, if it has rules: only callers that see the definition are told. */
      readonly name?: string;
    }
  | {
      /** The contents of one resource changed. */
      readonly kind: 'resource';
      /** The URI of the resource. */
      readonly uri: string;
    };

/** A task whose state changed. */
export interface TaskAnnouncement {
  readonly id: string;
  /** Whether the task has an answer, or nobody works on it, so that a process should look at it. */
  readonly due?: boolean;
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
export function changedOver(publish: (change: Announcement) => void): Changed {
  return {
    tools: () => publish({ kind: 'tools' }),
    prompts: () => publish({ kind: 'prompts' }),
    resources: () => publish({ kind: 'resources' }),
    resource: (uri) => publish({ kind: 'resource', uri }),
  };
}
