/// <reference lib="esnext.disposable" preserve="true" />
import type { TaskState } from './tasks.js';

// Subscriptions to changes: the types that a program uses.

/** The changes to subscribe to. */
export interface SubscribeTo {
  /** Changes to the list of tools. */
  readonly tools?: boolean;
  /** Changes to the list of prompts. */
  readonly prompts?: boolean;
  /** Changes to the list of resources. */
  readonly resources?: boolean;
  /** Changes to the contents of these resources. */
  readonly uris?: readonly string[];
  /** Changes to the tasks with these ids. */
  readonly tasks?: readonly string[];
}

/** A change at the server. It says what changed, not how: fetch the list, resource or task again. */
export type Change =
  | {
      /** The list that changed. */
      readonly kind: 'tools' | 'prompts' | 'resources';
    }
  | {
      /** The contents of a resource changed. */
      readonly kind: 'resource';
      /** The URI of the resource; it may lie below the URI that was subscribed to. */
      readonly uri: string;
    }
  | {
      /** A task changed. */
      readonly kind: 'task';
      /** The id of the task. */
      readonly id: string;
      /** The state of the task now. */
      readonly state: TaskState;
    };

/** The options of a subscription. */
export interface SubscribeOptions {
  /** Called with each change. The subscription then yields nothing when it is iterated. */
  readonly onChange?: (change: Change) => void;
  /** Closes the subscription. */
  readonly signal?: AbortSignal;
}

/** A subscription: iterate it for the changes. Several unread changes to the same list, resource or task become one. */
export interface Subscription extends AsyncIterable<Change>, AsyncDisposable {
  /** The changes that the server agreed to report; these may be fewer than were asked for. */
  readonly accepted: SubscribeTo;
  /** Ends the subscription and the iteration. */
  readonly close: () => Promise<void>;
}
