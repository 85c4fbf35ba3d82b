// The places of tasks in the store.

import { groupOfWork } from '../../../state/changes.js';
import { callerGroup } from '../../../state/store-shares.js';

/** The keys of one task. All of them are in one group, so that one write can change them together. */
export interface TaskPlace {
  readonly id: string;
  readonly group: string;
  /** The key in the queue. */
  readonly work: string;
  /** The entry that clients see. */
  readonly head: string;
  /** The list of everything that is needed to run the task again. */
  readonly journal: string;
  /** The list of the client's answers. */
  readonly inbox: string;
}

/** The names of a server's tasks in the store. */
export interface TaskKeys {
  /** The queue of the unfinished tasks. */
  readonly queue: string;
  /** The queue of the finished tasks whose bytes are counted until they expire. */
  readonly expiryQueue: string;
  /** The beginning of the keys of the processes that run tasks. */
  readonly workers: string;
  /** The place of a caller's task. Other callers look for the task elsewhere, and do not find it. */
  readonly placeOf: (principal: string, id: string) => Promise<TaskPlace>;
}

// The length of the group of an authenticated caller.
const CALLER_GROUP = 22;

/** Makes the names of the tasks of a server. */
export function taskKeys(server: string): TaskKeys {
  // An operator who looks into the store finds the server's name there, unless a store may not accept it.
  const name = /^[\w.-]{1,100}$/.test(server) ? server : printable(server);
  return {
    queue: `task:${name}`,
    expiryQueue: `task-expiry:${name}`,
    workers: `task-worker:${name}:`,
    async placeOf(principal, id) {
      const group = await callerGroup(server, principal);
      // Anonymous callers are many, and share a group. The id spreads them over the parts of a divided store.
      return placeIn(principal === '' ? `${group}${id.slice(0, 2)}` : group, id);
    },
  };
}

/** The place of a task by its key in a queue. */
export function placeOfWork(work: string): TaskPlace {
  const group = groupOfWork(work);
  return placeIn(group, work.slice(group.length + 1));
}

function placeIn(group: string, id: string): TaskPlace {
  const work = `${group}:${id}`;
  return { id, group, work, head: `task:${work}`, journal: `journal:${work}`, inbox: `inbox:${work}` };
}

/** Whether the tasks of a group belong to one authenticated caller, and are counted. */
export function isCounted({ group }: Pick<TaskPlace, 'group'>): boolean {
  return group.length === CALLER_GROUP;
}

function printable(text: string): string {
  const codes = Array.from(text.slice(0, 100), (character) => character.codePointAt(0)?.toString(16));
  return codes.join('-');
}
