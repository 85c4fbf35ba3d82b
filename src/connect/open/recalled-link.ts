import { withDeadline } from '../../async/deadline.js';
import { McpError } from '../../protocol/errors.js';
import type { Link } from '../../protocol/link.js';
import { wasRefused } from './eras.js';

export interface HearsayParts {
  /** Asks the server after all. */
  readonly ask: (signal: AbortSignal) => Promise<Link>;
  readonly timeoutMs: number;
}

/**
 * A link that was opened by what was known from before. Where the first call shows that the server is of another era,
 * the server is asked once, and the call is sent again: it was refused before anything was done.
 */
export function onHearsay(first: Link, { ask, timeoutMs }: HearsayParts): Link {
  const closing = new AbortController();
  let link = first;
  let proven = false;
  let open = 0;
  let asking: Promise<Link> | undefined;

  async function askAfterAll(): Promise<Link> {
    const reason = (): McpError => new McpError('timeout', `The server was not ready within ${timeoutMs} ms`);
    try {
      link = await withDeadline({ ms: timeoutMs, signal: closing.signal, reason }, ask);
      leave();
      return link;
    } catch (error) {
      asking = undefined;
      throw error;
    }
  }

  /** Other calls on the first link are about to be refused too, and must not be broken off before. */
  function leave(): void {
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
        proven = true;
        return outcome;
      } catch (error) {
        if (proven || !McpError.is(error) || !isOfNoModernServer(error)) throw error;
      } finally {
        open--;
        leave();
      }
      asking ??= askAfterAll();
      return (await asking).dispatch(call);
    },
    async close() {
      closing.abort(new McpError('connection_closed', 'The client was closed'));
      await asking?.catch(() => undefined);
      await Promise.all([first.close(), link.close()]);
    },
  };
}

function isOfNoModernServer(error: McpError): boolean {
  return error.code === 'unsupported_version' || (wasRefused(error) && unnamed.includes(error.code));
}

/** What a status comes with where a modern server did not choose it. */
const unnamed: readonly string[] = ['bad_response', 'remote_error', 'invalid_request'];
