// A link to a server that is known from an earlier connection, which is replaced if the server has changed.

import { withDeadline } from '../../async/deadline.js';
import { McpError } from '../../protocol/errors.js';
import type { Link } from '../../protocol/link.js';
import { isRefused } from './eras.js';

export interface RecalledLinkParts {
  /** Connects again, without the known facts. */
  readonly reopen: (signal: AbortSignal) => Promise<Link>;
  readonly timeoutMs: number;
}

/**
 * A link that was opened with facts from an earlier connection. If the first call shows that the server is of another era, the
 * client connects once more and sends the call again: the server rejected the call without doing anything.
 */
export function recalledLink(first: Link, { reopen, timeoutMs }: RecalledLinkParts): Link {
  const closing = new AbortController();
  let link = first;
  let isProven = false;
  let open = 0;
  let reopening: Promise<Link> | undefined;

  async function rediscover(): Promise<Link> {
    const reason = (): McpError =>
      new McpError('timeout', `The server was not ready within ${timeoutMs} ms (connectTimeoutMs)`);
    try {
      link = await withDeadline({ ms: timeoutMs, signal: closing.signal, reason }, reopen);
      closeFirst();
      return link;
    } catch (error) {
      reopening = undefined;
      throw error;
    }
  }

  /** Other calls on the first link are about to be rejected as well, and must not be aborted before that. */
  function closeFirst(): void {
    if (link !== first && open === 0) void first.close();
  }

  return {
    get revision() {
      return link.revision;
    },
    get transport() {
      return link.transport;
    },
    get discovered() {
      return link.discovered;
    },
    get reportsChanges() {
      return link.reportsChanges;
    },
    get filtersSubscriptions() {
      return link.filtersSubscriptions;
    },
    get expectsRootChanges() {
      return link.expectsRootChanges;
    },
    async dispatch(call) {
      if (link !== first) return link.dispatch(call);
      open++;
      try {
        const outcome = await first.dispatch(call);
        isProven = true;
        return outcome;
      } catch (error) {
        if (isProven || !McpError.is(error) || !showsOlderEra(error)) throw error;
      } finally {
        open--;
        closeFirst();
      }
      reopening ??= rediscover();
      return (await reopening).dispatch(call);
    },
    async close() {
      closing.abort(new McpError('connection_closed', 'The client was closed'));
      await reopening?.catch(() => undefined);
      await Promise.all([first.close(), link.close()]);
    },
  };
}

function showsOlderEra(error: McpError): boolean {
  return error.code === 'unsupported_version' || (isRefused(error) && codesOfAnyEra.includes(error.code));
}

/** The codes of rejections that a modern server would not choose itself. */
const codesOfAnyEra: readonly string[] = ['bad_response', 'remote_error', 'invalid_request'];
