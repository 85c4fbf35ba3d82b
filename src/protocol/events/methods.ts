// The one method of events that every client and server has to know: its calls stay open. It is apart from all else, because browsers load it.

/** The method of a stream of events. */
export const EVENT_STREAM = 'events/stream';
