// Taps a server in the same process, or a link whose wire is not text: its calls are shown as the messages that they would be.

import { printError, printNotification, printRequest, printResult } from '../../jsonrpc/message.js';
import { type Dispatch, printOutcome } from '../../protocol/call.js';
import { toMcpError } from '../../protocol/errors.js';
import type { Link } from '../../protocol/link.js';
import { withPeer } from '../../protocol/meta.js';
import { newestRevision } from '../../protocol/tables/revisions.js';
import type { TappedChannel } from './channel.js';

/** A dispatch that reports its calls, notifications and outcomes. */
export function tapDispatch(dispatch: Dispatch, channel: TappedChannel): Dispatch {
  return async function tapped(call) {
    // A server in the same process may notify from anywhere.
    const own = { with: channel.scope };
    // The id of the call is that of its subscription as well, and is in the notifications of that.
    const { id, method, params, peer, notify } = call;
    channel.sent(printed(() => printRequest(id, method, withPeer(params, peer))));
    try {
      const outcome = await dispatch({
        ...call,
        notify(name, content) {
          channel.received(
            printed(() => printNotification(name, content)),
            own,
          );
          notify(name, content);
        },
      });
      channel.received(
        printed(() => printResult(id, printOutcome(outcome))),
        own,
      );
      return outcome;
    } catch (error) {
      channel.received(
        printed(() => printError(id, toMcpError(error).toWire(newestRevision))),
        own,
      );
      throw error;
    }
  };
}

/** A link whose calls are reported. */
export function tapLink(link: Link, channel: TappedChannel): Link {
  return new Proxy(link, {
    get: (target, name) =>
      name === 'dispatch' ? tapDispatch((call) => target.dispatch(call), channel) : Reflect.get(target, name),
  });
}

function printed(print: () => string): string {
  try {
    return print();
  } catch {
    return '(a value that is not JSON)';
  }
}
