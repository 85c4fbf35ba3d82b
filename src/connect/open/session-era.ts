// Everything that only servers of the session era need. Loaded with the first of them: most web pages never connect to one.

export { httpSessionExchange } from '../../legacy/client/http/exchange.js';
export { httpSseWire } from '../../legacy/client/http/http-sse-wire.js';
export { openSessionLink } from '../../legacy/client/session-link.js';
export { wireExchange } from '../../transports/client/wire-exchange.js';
