// The entry `fullmcp/server-card`: describes a server to clients that look for servers.

export { type ServerCard, type ServerCardOptions, serverCard } from './transports/http/server/server-card.js';
