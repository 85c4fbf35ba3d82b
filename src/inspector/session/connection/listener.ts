// The ear of a connection: takes the messages, replies and steps that its wiretap sees.

import { follow } from '../../stories/follow-messages.js';
import type { WireListener } from '../../wiretap/seen.js';
import type { ConnectionState } from './connection-state.js';

/** A listener for one attempt to connect, and for the connection that it leads to. */
export function hear(connection: ConnectionState, isCurrent: () => boolean): WireListener {
  const { id, init, mask, authorization } = connection;
  const { book, feed, messages } = init.shared;
  return {
    mask,
    message(seen) {
      const head = messages.add(id, seen);
      feed.message(head);
      const story = book.get(seen.scope.story);
      if (story !== undefined) follow(story, seen, head.seq);
      return head.seq;
    },
    ownerOf: (message) => book.ownerOf(id, message),
    replied({ story }, exchange) {
      if (exchange.status === 401 || exchange.status === 403) authorization.login?.refused(exchange);
      book.get(story)?.changed();
    },
    step(step) {
      if (isCurrent() && connection.log.take(step)) connection.changed();
    },
  };
}
