// Announcements of changes, for subscribed clients of this process and of others.

import { isObject } from '../../jsonrpc/message.js';
import type { Auth } from '../../protocol/call.js';

/** The longest time that a response waits for the bus. */
export const MAX_TELL_MS = 1000;

/** A change that a server announces: of a list, or of the contents of a resource. */
export type Announcement =
  | {
      /** The list that changed. */
      readonly kind: 'tools' | 'prompts' | 'resources' | 'events';
      /** The definition that was added or removed, if it has rules: only callers that see the definition are told. */
      readonly name?: string;
    }
  | {
      /** The contents of one resource changed. */
      readonly kind: 'resource';
      /** The URI of the resource. */
      readonly uri: string;
    };

/** One caller, as changes name it. */
export interface Recipient {
  /** The subject of the caller. */
  readonly subject: string;
  /** The issuer that the caller must have. Default: any. */
  readonly issuer?: string | undefined;
}

/**
 * A change that only some callers are told of. It is not an `Announcement` with one more member: a process of an older release, which
 * would not know the member, would tell every subscriber. It ignores this kind instead.
 */
interface AddressedChange {
  readonly kind: 'addressed';
  readonly change: Announcement;
  readonly to: readonly Recipient[];
}

/** A message of the topic of changes. */
export type ChangeMessage = Announcement | AddressedChange;

/** The change of a message, whoever is told of it. */
export function changeOf(message: ChangeMessage): Announcement {
  return message.kind === 'addressed' ? message.change : message;
}

/** A message about another change, for the same callers. */
export function withChange(message: ChangeMessage, change: Announcement): ChangeMessage {
  return message.kind === 'addressed' ? { ...message, change } : change;
}

/** Whether a caller is among those that a change is for. */
export function isRecipient(auth: Auth | undefined, to: readonly Recipient[]): boolean {
  return to.some(
    ({ subject, issuer }) => auth?.subject === subject && (issuer === undefined || auth.issuer === issuer),
  );
}

/** A task whose state changed. */
export interface TaskAnnouncement {
  readonly id: string;
  /** Whether the task has an answer, or nobody works on it, so that a process should look at it. */
  readonly due?: boolean;
}

/** The options of an announcement. */
type ChangeOptions = {
  /**
   * The callers that are told: subjects, or objects with `subject` and `issuer`, such as `ctx.auth`. A subject alone means the caller of
   * every issuer that has it. Local callers without `auth` are always told. Default: every subscriber that the rules of access allow and,
   * for the contents of a resource that is not `cacheScope: 'public'`, that can read it now.
   */
  readonly to: string | Recipient | readonly (string | Recipient)[];
};

/** Announces changes to subscribed clients. */
export interface Changed {
  /** Announces that the list of tools changed. */
  readonly tools: (options?: ChangeOptions) => void;
  /** Announces that the list of prompts changed. */
  readonly prompts: (options?: ChangeOptions) => void;
  /** Announces that the list of resources or templates changed. */
  readonly resources: (options?: ChangeOptions) => void;
  /**
   * Announces that the contents of one resource changed. Subscribers that cannot read the resource are not told: for each subscriber that
   * is authenticated, or if the server has the option `user`, the server reads the resource once. With `to`, it reads nothing.
   */
  readonly resource: (uri: string, options?: ChangeOptions) => void;
}

/** Makes the functions that announce changes. */
export function changedOver(publish: (message: ChangeMessage) => void): Changed {
  function announce(change: Announcement, options: ChangeOptions | undefined): void {
    // The functions are passed as listeners, too, and then get an event or an index.
    if (!isObject(options) || !('to' in options)) return publish(change);
    for (const to of portions(readRecipients(options.to))) publish({ kind: 'addressed', change, to });
  }
  return {
    tools: (options) => announce({ kind: 'tools' }, options),
    prompts: (options) => announce({ kind: 'prompts' }, options),
    resources: (options) => announce({ kind: 'resources' }, options),
    resource: (uri, options) => announce({ kind: 'resource', uri }, options),
  };
}

// A subject that is undefined is a mistake, and must not mean everybody.
function readRecipients(to: unknown): readonly Recipient[] {
  return (Array.isArray(to) ? to : [to]).map((one: unknown) => {
    const { subject, issuer } = (isObject(one) ? one : { subject: one }) as Partial<Recipient>;
    if (typeof subject !== 'string' || subject === '' || (issuer !== undefined && typeof issuer !== 'string'))
      throw new TypeError(
        '"to" must name the callers that are told of the change: a subject, an object with "subject" and "issuer", or an array of these.',
      );
    return issuer === undefined ? { subject } : { subject, issuer };
  });
}

/** The number of characters of the names in one message. The bus of Postgres carries 8,000 bytes. */
const MAX_NAMES_LENGTH = 2000;

/** The recipients in messages that every bus can carry. A change that is for nobody is one message: caches have to hear of it. */
function portions(to: readonly Recipient[]): (readonly Recipient[])[] {
  const messages: Recipient[][] = [[]];
  let length = 0;
  for (const one of to) {
    const own = one.subject.length + (one.issuer?.length ?? 0);
    if (length > 0 && length + own > MAX_NAMES_LENGTH) {
      messages.push([]);
      length = 0;
    }
    messages.at(-1)?.push(one);
    length += own;
  }
  return messages;
}
