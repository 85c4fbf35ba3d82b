// The rooms whose code is changed on purpose, one place at a time, to see whether a test notices; and the tests that are asked.

/** @type {Readonly<Record<string, readonly string[]>>} */
export const rooms = {
  protocol: ['unit/protocol', 'unit/server/handle', 'unit/oauth/fetch', 'unit/transports/http/server'],
  jsonrpc: ['unit/jsonrpc', 'unit/server/handle'],
  schema: ['unit/schema'],
  state: ['unit/state', 'unit/async'],
  'server/asking': ['unit/server/asking'],
  'oauth/server': ['unit/oauth/server'],
  'extensions/tasks': ['unit/extensions/tasks'],
};
