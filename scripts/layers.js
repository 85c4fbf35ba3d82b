// The layers of src and their rooms, and the lists that scripts/check-layers.js enforces.

/**
 * @typedef {object} Layer
 * @property {string} what A description of the folder, for the page.
 * @property {readonly string[]} may The folders, or entry files, that it may import besides itself.
 * @property {readonly string[]} [rooms] Its inner folders, lowest first; `.` is its own files. Each may import those before it.
 */

/** @type {Readonly<Record<string, Layer>>} Lowest first. */
export const LAYERS = {
  async: { what: 'delays, deadlines, aborts, lifetimes; no MCP word in it', may: [] },
  jsonrpc: { what: 'JSON-RPC 2.0 and its framings; no MCP word in it', may: [] },
  schema: {
    what: 'Standard Schema or JSON Schema in, JSON Schema out; validation, coercion, error messages; the one reader of what a schema describes',
    may: [],
    rooms: ['document', 'read', 'check', 'explain', '.'],
  },
  protocol: {
    what: 'the model: calls, links, errors, content, URI templates, and the tables of revisions, features and methods',
    may: ['async', 'jsonrpc', 'schema'],
    rooms: [
      'checks',
      'tables',
      'encoding',
      'secrets',
      'model',
      'model/skills',
      'model/apps',
      'model/search',
      'uri-template',
      '.',
      'telemetry',
    ],
  },
  state: {
    what: 'the store, the bus and the event log that the processes of a server share: contracts, and each of them in memory; the seam of authorization',
    may: ['async', 'jsonrpc', 'protocol'],
    rooms: ['.', 'memory'],
  },
  oauth: {
    what: 'authorization: the hardened fetch, the metadata documents, the login of a client, the providers of a server, the tokens of callers for the servers behind a proxy, the authorization server in front of another provider',
    may: ['async', 'jsonrpc', 'protocol', 'state'],
    rooms: [
      'fetch',
      'documents',
      'documents/cimd',
      'client/store',
      'client/hops',
      'client/grants',
      'client',
      'server',
      'server/keys',
      'server/dpop',
      'server/tokens',
      'server/presets',
      'proxy/upstream',
      'proxy/presets',
      'proxy/tokens',
      'proxy/clients',
      'proxy/pages',
      'proxy/endpoints',
      'proxy',
      'forwarding',
    ],
  },
  server: {
    what: 'the serving role, newest revision only',
    may: ['async', 'jsonrpc', 'schema', 'protocol', 'state'],
    rooms: [
      'state',
      'asking',
      'results',
      'context',
      'define',
      'policy',
      'access',
      'catalog',
      'watch',
      'handle',
      'handle/drafts',
      'search',
      'mount',
      'mount/transform',
      'build',
      '.',
    ],
  },
  client: {
    what: 'the asking role, newest revision only',
    may: ['async', 'jsonrpc', 'schema', 'protocol'],
    rooms: [
      'model',
      'checks',
      'connection',
      'answering',
      'calls',
      'tasks',
      'subscriptions',
      'skills',
      'apps',
      'tools',
      '.',
    ],
  },
  transports: {
    what: 'bytes to Call and back, at both ends: HTTP, stdio, WebSocket, in-process',
    may: ['async', 'jsonrpc', 'protocol', 'state'],
    rooms: [
      'client',
      'server',
      'http/client',
      'http/server',
      'http/server/auth',
      'stdio/client',
      'stdio/server',
      'websocket',
      'memory',
    ],
  },
  legacy: {
    what: 'revisions before 2026-07-28: sessions, the handshake, event logs, HTTP+SSE, old shapes, for both roles',
    may: ['async', 'jsonrpc', 'protocol', 'state', 'transports'],
    rooms: ['shapes', 'client', 'client/http', 'server', 'server/shared', 'server/http'],
  },
  connect: {
    what: 'targets and configurations, finding the era of a server, many servers as one, proxies, gateways',
    may: ['async', 'jsonrpc', 'protocol', 'state', 'client', 'transports', 'legacy'],
    rooms: ['targets', 'config', 'open', 'routing', 'group', 'proxy', 'gateway/pins', 'gateway', '.'],
  },
  extensions: {
    what: 'extensions of the protocol: how one is made, tasks, skills, apps; definitions that come from anywhere',
    may: ['async', 'jsonrpc', 'schema', 'protocol', 'state', 'server'],
    rooms: ['.', 'tasks/stored', 'tasks/running', 'tasks', 'skills', 'apps', 'catalog'],
  },
  openapi: {
    what: 'servers from OpenAPI documents and from the routes of apps, and servers as REST APIs: the document, its schemas, requests and replies',
    may: ['async', 'jsonrpc', 'schema', 'protocol', 'state', 'oauth', 'server', 'transports'],
    rooms: ['document', 'schema', 'request', 'security', 'response', '.', 'routes', 'rest'],
  },
  middleware: {
    what: 'parts that wrap the calls of servers, clients and single tools',
    may: ['async', 'jsonrpc', 'protocol', 'state', 'client'],
    rooms: ['facts', 'audit', 'output-budget', 'cache', 'rate-limit', 'resilience', '.', 'otel'],
  },
  adapters: {
    what: 'Node, Fastify, LMDB, Postgres, Redis, NATS',
    may: [
      'async',
      'jsonrpc',
      'schema',
      'protocol',
      'state',
      'oauth',
      'server',
      'client',
      'transports',
      'legacy',
      'connect',
      'extensions',
      'middleware',
    ],
    rooms: [
      'node/files',
      'node/tls',
      'node/client',
      'node/fetch',
      'node/oauth',
      'node/audit',
      'node/skills',
      'node/catalog',
      'node/gateway',
      'node/server',
      'node/config',
      'node/workers',
      'fastify',
      'lmdb',
      'postgres/database',
      'postgres',
      'redis/client',
      'redis',
      'nats/connection',
      'nats/cluster',
      'nats/link',
      'nats/client',
      'nats/server',
      'nats',
      'runtime',
    ],
  },
  testing: {
    what: 'the testing kit: the real parts with the sockets left out, and faults put in',
    may: [
      'async',
      'jsonrpc',
      'protocol',
      'state',
      'oauth',
      'server',
      'client',
      'transports',
      'legacy',
      'connect',
      'index.ts',
      'http.ts',
      'websocket.ts',
    ],
    rooms: ['contracts', 'faults', 'memory', 'recording', 'test-client', 'matchers', '.'],
  },
  tooling: {
    what: 'shared by the command and the inspector: harmless forms of the text of peers, manifests and their differences, lint, tapes that are played again',
    may: ['jsonrpc', 'schema', 'protocol', 'state', 'client', 'connect', 'testing', 'index.ts'],
    rooms: ['.', 'manifest', 'lint', 'tape'],
  },
  inspector: {
    what: 'the process behind the page of the inspector: its connections and what is seen on them, and how the page is served',
    may: [
      'async',
      'jsonrpc',
      'schema',
      'protocol',
      'state',
      'oauth',
      'server',
      'client',
      'transports',
      'connect',
      'adapters',
      'testing',
      'tooling',
      'index.ts',
      'client.ts',
      'oauth.ts',
    ],
    rooms: [
      'contract',
      'journal',
      'wiretap',
      'stories',
      'session/login',
      'session/connection',
      'session',
      'host',
      '.',
    ],
  },
  cli: {
    what: 'the command `fullmcp`: nothing of the library imports it, and it is bundled apart',
    may: [
      'async',
      'jsonrpc',
      'schema',
      'protocol',
      'state',
      'oauth',
      'server',
      'client',
      'transports',
      'legacy',
      'connect',
      'extensions',
      'openapi',
      'middleware',
      'adapters',
      'testing',
      'tooling',
      'inspector',
      'index.ts',
      'auth.ts',
      'client.ts',
      'node.ts',
      'oauth.ts',
      'gateway.ts',
      'proxy.ts',
      'stdio.ts',
    ],
    rooms: [
      'terminal',
      'command',
      'hosts/formats',
      'hosts',
      'target/login',
      'target',
      'inspecting',
      'arguments',
      'asking',
      'results',
      'manifest',
      'completion',
      'tape',
      'share/generate',
      'operate/doctor',
      'operate/bench',
      'operate/proxying',
      'operate/conformance',
      'share/publishing',
      'commands/use',
      'commands/project/templates',
      'commands/project/serving',
      'commands/project/reloading',
      'commands/project',
      'commands/check',
      'commands/hosts',
      'commands/operate',
      'commands/share',
      'commands/auth',
      '.',
    ],
  },
};

/** Files that belong to one role although no folder in their path says so. Files of the two roles never import each other. */
export const ROLES = {
  'transports/websocket/accept.ts': 'server',
  'transports/websocket/connect.ts': 'client',
};

/** Rooms that need Node. Portable files may import types from them, but never load them. */
export const NODE_ROOMS = ['adapters/', 'transports/stdio/'];
export const MAY_USE_NODE = [...NODE_ROOMS, 'testing/', 'testing.ts', 'inspector/', 'inspector.ts', 'cli/'];
export const MAY_LOAD_NODE = [
  ...MAY_USE_NODE,
  'client.ts',
  'proxy.ts',
  'gateway.ts',
  'node.ts',
  'catalog.ts',
  'skills.ts',
  'stdio.ts',
  'fastify.ts',
  'lmdb.ts',
  'postgres.ts',
  'redis.ts',
  'nats.ts',
  'auth.ts',
  'oauth.ts',
  'oauth-proxy.ts',
  'openapi.ts',
  'rest.ts',
];
export const NODE_GLOBALS = [
  'process',
  'Buffer',
  'setImmediate',
  'clearImmediate',
  'require',
  'global',
  '__dirname',
  '__filename',
];
/** Files that look at `globalThis` for globals of Node, and work without them elsewhere. */
export const MAY_LOOK_FOR_NODE = [
  'client-web.ts',
  'node.ts',
  'oauth.ts',
  'oauth-proxy.ts',
  'stdio.ts',
  'async/next-turn.ts',
  'protocol/checks/runtime.ts',
  'protocol/telemetry/operator-log.ts',
  'protocol/telemetry/tracing.ts',
];
export const MAY_NAME_ANY_PACKAGE = ['adapters/'];
/** @type {Readonly<Record<string, string>>} */
export const PACKAGE_HOMES = {
  '@cfworker/json-schema': 'schema/',
  '@opentelemetry/api': 'middleware/otel/',
  jose: 'oauth/',
  oauth4webapi: 'oauth/',
  yaml: 'openapi/',
};

export const COMPARES_ORDER = 'protocol/tables/features.ts';
export const NAMES_REVISIONS = 'protocol/';
/** Files with days that are not revisions of the protocol, or not only. */
export const NAMES_DAYS = ['server/state/behaviours.ts', 'server/state/deprecations.ts'];
export const REVISION = /^20\d\d-\d\d-\d\d$/;
/** Functions that distinguish eras. The two roles speak only the newest revision and never call them. */
export const ERA_QUESTIONS = ['has', 'within', 'mutual', 'sessionRevisions', 'newestSession'];
export const NEVER_ASK_FOR_ERA = ['server/', 'client/'];

export const MAX_ENTRIES = 18;
/** The files in src itself are the entries of the package, each of which users know by its name. */
export const MAX_PUBLIC_ENTRIES = 32;
/** Folders in src: each is a row of the table above, in the order of who may import whom. */
export const MAX_LAYERS = 20;

/**
 * The page with the table of the layers between its two marks; undefined if the page does not have the marks.
 * @param {string} page
 */
export function withTable(page) {
  const marked = /<!-- layers -->\n[\s\S]*?<!-- \/layers -->/;
  if (!marked.test(page)) return undefined;
  return page.replace(marked, () => `<!-- layers -->\n${printTable()}\n<!-- /layers -->`);
}

function printTable() {
  const rows = Object.entries(LAYERS).map(([folder, { what, may, rooms }]) => {
    const inside =
      rooms === undefined
        ? ''
        : rooms.map((room) => (room === '.' ? 'its own files' : `\`${room}\``)).join(', ');
    return `| \`${folder}\` | ${what} | ${may.map((one) => `\`${one}\``).join(', ') || 'nothing of ours'} | ${inside} |`;
  });
  return ['| folder | what it is | may import | rooms, lowest first |', '|---|---|---|---|', ...rows].join(
    '\n',
  );
}
