// The keys of `_meta` that are this library's own. A peer that does not know them ignores them.

import { isObject, type JsonObject } from '../../jsonrpc/message.js';

/** On a call: the key that identifies a call and its retries as the same. */
export const IDEMPOTENCY_KEY = 'fullmcp/idempotencyKey';

/** On a listed tool: for how long the tool keeps the outcome of a call with a key. */
export const KEEPS_KEYS = 'fullmcp/idempotency';

/**
 * On a listed tool: whether it can run as a task, as `execution.taskSupport` says it in the lists of 2025-11-25. Other revisions have no
 * place for it, and a proxy between two of them must not lose it.
 */
export const TASK_SUPPORT = 'fullmcp/tasks';

/** Whether a listed tool can run as a task, as a server of any revision says it. */
export function taskSupportOf({ execution, _meta }: JsonObject): unknown {
  if (isObject(execution)) return execution['taskSupport'];
  return isObject(_meta) ? _meta[TASK_SUPPORT] : undefined;
}

/** On a listed tool that returns a handle: the schema of the value that the handle stands for, as `value`. */
export const RETURNS_HANDLE = 'fullmcp/handle';

/** On a listed tool, resource or prompt: its tags. */
export const TAGS = 'fullmcp/tags';

/** On a listed tool that has versions: the one that the caller gets. On a result: the older one that has answered the call. */
export const VERSION = 'fullmcp/version';

/** On a listed tool that has versions: the digest of the schemas of each version that answers calls, by version. */
export const VERSIONS = 'fullmcp/versions';

/** On a server's request in the session era, whose requests have no keys: the key of the question. */
export const QUESTION_KEY = 'fullmcp/key';

/** On a question: `user` if nobody may answer it in the name of the user. */
export const ANSWERED_BY = 'fullmcp/by';

/** On a result whose value is there only as text, because its structured content could not be sent as it is. */
export const STRUCTURED = 'fullmcp/structured';

/**
 * On a task: its progress as numbers, `{ progress, total, message }`. The extension has no place for them, and
 * `notifications/progress` are not sent for tasks.
 */
export const TASK_PROGRESS = 'fullmcp/progress';

/** On a listed tool of a mounted server that has an app: the prefix of the tools that the app calls. */
export const TOOL_PREFIX = 'fullmcp/toolPrefix';

/** On a call of the inspector whose server reports the steps of its handlers: the number of the call's story. */
export const STORY = 'fullmcp/story';

/**
 * On a call of a program by an inspector: `true` if it wants to know the calls of the program. On the progress and on the result: an array
 * with those calls, `{ seq, tool, arguments, state, line, approved, result, error, ms }`.
 */
export const PROGRAM_CALLS = 'fullmcp/calls';

/** On a call inside of a gateway with rules: the servers that it may go to. The servers themselves do not get it. */
export const ROUTED_TO = 'fullmcp/server';

/** On a call of a proxy: tells its callers apart for a proxy behind it, without naming them. */
export const CALLER = 'fullmcp/caller';
