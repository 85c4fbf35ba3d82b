// The layers of src and their rooms, and the lists that scripts/check-layers.js enforces.

/**
 * @typedef {object} Layer
 * @property {string} what A description of the folder, for the page.
 * @property {readonly string[]} may The folders, or entry files, that it may import besides itself.
 * @property {Readonly<Record<string, string>>} [rooms] Its inner folders and what each is for, lowest first; `.` is its own files. Each may import those before it.
 * @property {readonly string[]} [tests] Folders of tests for it besides its folder in test/unit.
 */

/** @type {Readonly<Record<string, Layer>>} Lowest first. */
export const LAYERS = {
  async: {
    what: 'waiting and bounding: delays, deadlines, aborts, lifetimes, retries, intervals, turns, shared attempts, maps with bounds; no MCP word in it',
    may: [],
  },
  face: {
    what: 'the mark and the font of the pages that people see; no MCP word in it',
    may: [],
  },
  jsonrpc: { what: 'JSON-RPC 2.0 and its framings; no MCP word in it', tests: ['test/fuzz'], may: [] },
  schema: {
    what: 'Standard Schema or JSON Schema in, JSON Schema out; validation, coercion, error messages; the one reader of what a schema describes',
    may: [],
    rooms: {
      document: 'a schema as a document: dialects, pointers, references, patterns that could be slow',
      read: 'the one reader: what a schema describes, as a shape',
      check: 'validation and coercion of values',
      explain: 'mistakes in values, in sentences for models and people',
      '.': 'the door: what users pass as a schema, converted and compiled',
    },
  },
  protocol: {
    what: 'the model: calls, links, errors, content, URI templates, and the tables of revisions, features and methods',
    tests: ['test/types'],
    may: ['async', 'jsonrpc', 'schema'],
    rooms: {
      checks: 'checks of options, addresses and names that every room shares',
      tables: 'revisions, features, methods, limits: differences as rows',
      encoding: 'base64, headers, JSON values, sealing, digests',
      secrets: 'the names and forms of secrets, and how they are hidden',
      model: 'the types of the protocol, and how content is checked',
      'model/skills': 'skills: their front matter and their digests',
      'model/apps': 'apps: their declarations and what a host tells them',
      'model/search': 'the index that finds tools by words',
      events: 'events on the wire: names, shapes, the two dialects, signatures of webhooks',
      'uri-template': 'URI templates: expanded and matched',
      '.': 'calls, links, errors, callers, eras',
      code: 'programs of models: the engine that runs them, and the option for it',
      telemetry: 'traces, the operator log, channels for observers',
    },
  },
  state: {
    what: 'the store, the bus and the event log that the processes of a server share: contracts, and each of them in memory; the seam of authorization',
    tests: ['test/simulation', 'test/chaos'],
    may: ['async', 'jsonrpc', 'protocol'],
    rooms: {
      '.': 'the contracts of the store, the bus and the event log, and what stands on them: leases, claims, topics, transactions',
      memory: 'all of them in memory, for a server of one process',
    },
  },
  oauth: {
    what: 'authorization: the hardened fetch, the metadata documents, the login of a client, the providers of a server, the tokens of callers for the servers behind a proxy, the authorization server in front of another provider',
    tests: ['test/flows/auth', 'test/flows/oauth'],
    may: ['async', 'face', 'jsonrpc', 'protocol', 'state'],
    rooms: {
      fetch: 'a fetch that reaches no private address and follows no dangerous redirect',
      documents: 'metadata of servers and resources, and challenges',
      'documents/cimd': 'documents that clients describe themselves with',
      'client/store': 'where a client keeps its tokens',
      'client/hops':
        'one request to an authorization server: authentication, DPoP, failures, replies that need repair',
      'client/grants': 'the ways to a token: code, device, machine, refresh',
      client: 'the login of a client from the challenge to the token',
      server: 'providers of a server: bearer tokens, API keys, trusted proxies',
      'server/keys': 'the keys of issuers, fetched or given',
      'server/dpop': 'proofs of possession, checked',
      'server/tokens': 'JWTs and introspection, their caches and revocations',
      'server/presets': 'the known identity providers, for checking tokens',
      'proxy/upstream': 'the provider behind the proxy',
      'proxy/presets': 'the known identity providers, for logging in',
      'proxy/tokens': 'grants, codes and tokens that the proxy issues and keeps, sealed',
      'proxy/clients': 'clients of the proxy: registration, documents, authentication',
      'proxy/pages': 'the consent page and its neighbours',
      'proxy/endpoints': 'authorize, callback, register, token, metadata',
      proxy: 'an authorization server in front of another provider',
      forwarding: 'tokens of callers for the servers behind a proxy: exchanged, or from a vault',
    },
  },
  server: {
    what: 'the serving role, newest revision only',
    tests: ['test/flows', 'test/types'],
    may: ['async', 'jsonrpc', 'schema', 'protocol', 'state'],
    rooms: {
      state: 'the state of a server: log, changes, idempotency, lifespan, deprecations',
      asking: 'questions to the user: replay, the journal, sealed state',
      results: 'returned and thrown values to results',
      context: '`ctx`, the argument of every handler',
      define: 'tools, resources, prompts and options, as users write them',
      policy: 'rules for dangerous tools: who is asked, and what',
      access: 'rules of who sees and uses a definition',
      catalog: 'definitions compiled once, listed, and run',
      watch: 'subscriptions to resources, between processes',
      references: 'values kept for handles, and what tools with handles list',
      handle: 'each method of the protocol, and the way to its handler',
      'handle/drafts': 'drafts of the protocol: digests of lists',
      search: 'search and programs as the front of a catalog',
      code: 'programs of models: their calls as steps, their tools as declarations',
      mount: 'servers within servers',
      'mount/transform': 'tools renamed, reshaped, versioned',
      build: 'the four phases of `createServer`',
      '.': '`createServer` and `defineWith`',
    },
  },
  client: {
    what: 'the asking role, newest revision only',
    tests: ['test/flows/client', 'test/flows/events', 'test/browser'],
    may: ['async', 'jsonrpc', 'schema', 'protocol'],
    rooms: {
      model: 'the types of the client, typed tools and results',
      checks: 'options and outputs, checked',
      connection: 'the link that a client keeps, and its events',
      answering: 'questions of servers, answered by handlers',
      calls: 'one call: sent, retried, cached, read',
      tasks: 'calls that became tasks, followed',
      subscriptions: 'changes, as a server reports them',
      events: 'events of servers: listed, followed by stream or poll, with the position kept',
      'events/receiver': 'webhooks with events: subscribed, verified, passed on once',
      skills: 'skills of servers',
      apps: 'apps in a frame, and the bridge to them',
      tools: 'tools for the SDKs of models',
      '.': '`createClient`',
    },
  },
  transports: {
    what: 'bytes to Call and back, at both ends: HTTP, stdio, WebSocket, in-process',
    tests: ['test/flows/hostile', 'test/floods'],
    may: ['async', 'face', 'jsonrpc', 'protocol', 'state'],
    rooms: {
      client: 'wires, exchanges, links: what all client transports share',
      server: 'channels with their limits, and drains: what all server transports share',
      'http/client': 'requests over HTTP, and what their replies mean',
      'http/server': 'the endpoint: gate, guard, body, reply, streams',
      'http/server/auth': 'credentials at the edge',
      'stdio/client': 'a server as a child process',
      'stdio/server': 'a server on its own stdin and stdout',
      websocket: 'both ends of WebSocket',
      memory: 'both ends in one process',
    },
  },
  legacy: {
    what: 'revisions before 2026-07-28: sessions, the handshake, event logs, HTTP+SSE, old shapes, for both roles',
    tests: ['test/flows/sessions', 'test/interop'],
    may: ['async', 'jsonrpc', 'protocol', 'state', 'transports'],
    rooms: {
      shapes: 'old and new shapes, translated',
      client: 'the session of a client: handshake, listening, log level',
      'client/http': 'its exchange over HTTP, and HTTP+SSE',
      server: 'the session of a server, on any transport',
      'server/shared': 'facts about sessions and their calls that processes share',
      'server/http': 'sessions over HTTP: table, streams, questions',
    },
  },
  connect: {
    what: 'targets and configurations, finding the era of a server, many servers as one, proxies, gateways',
    tests: ['test/flows/proxy', 'test/stacks'],
    may: ['async', 'jsonrpc', 'protocol', 'state', 'client', 'transports', 'legacy'],
    rooms: {
      targets: 'targets of a connection, and its options',
      config: 'files of hosts with many servers',
      open: 'a target opened: attempts, eras, waiting',
      routing: 'many servers as one: names, lists, who answers',
      group: 'a group of servers behind one client',
      proxy: 'one server in front of another',
      'gateway/pins': 'definitions pinned, compared, locked',
      gateway: 'many servers in front: config, screen, changes',
      '.': '`connect`',
    },
  },
  extensions: {
    what: 'extensions of the protocol: how one is made, tasks, skills, apps; help for clients that lack them; definitions that come from anywhere',
    tests: ['test/flows/tasks', 'test/simulation'],
    may: ['async', 'jsonrpc', 'schema', 'protocol', 'state', 'oauth', 'server'],
    rooms: {
      '.': 'how an extension is made',
      'tasks/stored': 'a task as it is kept',
      'tasks/running': 'a task as it runs: leases, journal, questions',
      tasks: 'the methods of tasks, and workers',
      skills: 'skills of a server',
      apps: 'apps of a server, and the page side of the bridge',
      'events/log': 'the events of one type: appended, read, and where a reader is',
      events: 'emitted events, and their ways to subscribers: polls and streams',
      'events/webhooks/outgoing':
        'requests to webhooks: one attempt, the times of the next ones, and whether a receiver wants them',
      'events/webhooks/stored': 'a subscription of a webhook as it is kept',
      'events/webhooks': 'subscriptions of webhooks, from the request to the last delivery',
      'events/sources/schedules': 'schedules of events: their moments in time zones, told once',
      'events/sources':
        'events that come from elsewhere than `emit`: from transactions, schedules and changes of resources',
      'events/intake': 'webhooks of third parties, which become events: verified, and kept once',
      code: 'programs of models that call servers elsewhere: behind a gateway or a client',
      'fallbacks/page': 'the page that asks the users of clients that cannot',
      fallbacks: 'tasks and questions for clients that lack them, by tools',
      catalog: 'definitions that change while a server runs',
    },
  },
  openapi: {
    what: 'servers from OpenAPI documents and from the routes of apps, and servers as REST APIs: the document, its schemas, requests and replies',
    tests: ['test/openapi'],
    may: ['async', 'jsonrpc', 'schema', 'protocol', 'state', 'oauth', 'server', 'transports'],
    rooms: {
      document: 'documents of every version, read and resolved',
      schema: 'their schemas, as JSON Schema',
      request: 'arguments to a request: paths, styles, bodies',
      security: 'credentials of operations',
      response: 'replies to results, and failures to errors',
      '.': '`fromOpenAPI`',
      routes: 'routes of Express, Fastify and Hono as tools',
      rest: 'a server as a REST API',
    },
  },
  middleware: {
    what: 'parts that wrap the calls of servers, clients and single tools',
    tests: ['test/flows/middleware', 'test/stacks'],
    may: ['async', 'jsonrpc', 'protocol', 'state', 'client'],
    rooms: {
      facts: 'facts about a call: group, size, redacted values',
      audit: 'the audit log with its chain',
      'output-budget': 'long results, cut and kept for later',
      cache: 'results kept and shared by equal calls',
      'rate-limit': 'limits per caller, in one process or many',
      resilience: 'retries and circuit breakers',
      '.': 'the short ones: concurrency, timeout, logging, errors, sizes',
      otel: 'OpenTelemetry',
    },
  },
  adapters: {
    what: 'Node, Fastify, LMDB, QuickJS, Postgres, Redis, NATS',
    tests: ['test/flows/cluster', 'test/chaos'],
    may: [
      'async',
      'face',
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
    rooms: {
      'node/files': 'files: locks between processes, files replaced as a whole, certificates and keys',
      'node/client': 'the HTTP client on `node:http`',
      'node/fetch': 'the safe fetch on Node',
      'node/oauth': 'logins on a computer: browser, loopback, token files',
      'node/audit': 'the audit log in files',
      'node/skills': 'skills in folders',
      'node/catalog': 'definitions in folders',
      'node/server': '`node:http` in front of the endpoint, and signals',
      'node/config': '`fullmcp.config`: settings and variables',
      'node/workers': 'one server on many cores',
      fastify: 'the Fastify plugin',
      lmdb: 'the store on LMDB',
      'quickjs/worker': 'a program in an instance of QuickJS, inside of a worker thread',
      quickjs: 'the engine for programs of models: threads, limits',
      'postgres/database': 'connections, tables and functions of Postgres',
      postgres: 'store, bus and event log on Postgres',
      'redis/client': 'two Redis clients behind one link',
      redis: 'store, bus and event log on Redis',
      'nats/connection': 'connections to NATS',
      'nats/cluster': 'bus, event log and cluster on NATS',
      'nats/link': 'the frames of calls over NATS',
      'nats/client': 'calls to services over NATS',
      'nats/server': 'a server as a service over NATS',
      nats: 'discovery of services',
      runtime: 'parts for Node that entries pass to portable rooms',
    },
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
    rooms: {
      contracts: 'the contracts that every store, bus, log and token store keeps',
      faults: 'broken wires and networks, by seed',
      memory: 'transports without sockets',
      recording: 'tapes, recorded and played',
      'test-client': '`testClient`, on every transport',
      matchers: 'matchers for expectations',
      'mock-model': '`mockModel`: a scripted model, over the HTTP of the vendors',
      '.': 'builders and mock servers',
    },
  },
  tooling: {
    what: 'shared by the command and the inspector: harmless forms of the text of peers, manifests and their differences, lint, tapes that are played again, requests that a project keeps',
    tests: ['test/cli/check'],
    may: ['jsonrpc', 'schema', 'protocol', 'state', 'client', 'connect', 'testing', 'index.ts'],
    rooms: {
      '.': 'harmless text of peers',
      manifest: 'a server as a manifest, and its changes',
      lint: 'rules for definitions',
      tape: 'tapes, played again and compared',
      requests: 'requests that a project keeps: their file, run and compared',
      operator: 'the events of a server for its author: emitted, and their deliveries',
    },
  },
  evals: {
    what: 'whether models understand the tools of a server: models over HTTP, conversations, expectations, tapes, reports',
    may: [
      'async',
      'jsonrpc',
      'schema',
      'protocol',
      'oauth',
      'client',
      'connect',
      'adapters',
      'testing',
      'tooling',
      'client.ts',
    ],
    rooms: {
      model: 'models over HTTP: one request, one reply, in the API of each vendor',
      cases: 'cases, conversations, and how one is judged by the other',
      tape: 'conversations, recorded and compared with what would be asked today',
      report: 'scores with their intervals, and reports',
      run: 'conversations, had or replayed, within a budget',
      '.': '`evals`',
    },
  },
  inspector: {
    what: 'the process behind the page of the inspector: its connections and what is seen on them, and how the page is served',
    tests: ['test/inspector'],
    may: [
      'async',
      'face',
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
      'evals',
      'index.ts',
      'client.ts',
      'oauth.ts',
    ],
    rooms: {
      contract: 'the types that the page and the process share',
      journal: 'the runs and steps of a handler, as the server reports them',
      wiretap: 'every message, as it is on the wire',
      stories: 'a call as one story',
      'session/login': 'the login, hop by hop',
      'session/webhooks': 'a receiver of webhooks, to try them',
      'session/connection': 'one connection and what the page sees of it',
      session: 'all connections, and the commands of the page',
      chat: 'a chat with a model that has the tools of a connection',
      host: 'the page and its API, served',
      '.': 'the inspector alone, or mounted in an app',
    },
  },
  cli: {
    what: 'the command `fullmcp`: nothing of the library imports it, and it is bundled apart',
    tests: ['test/cli'],
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
      'evals',
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
    rooms: {
      terminal: 'output for people',
      command: 'a command as a definition: parsed, helped, wrapped',
      'hosts/formats': 'JSON, TOML and YAML, edited in place',
      hosts: 'the config files of hosts',
      'target/login': 'logins that the command keeps',
      target: 'the server that a command is about',
      inspecting: 'the inspector, started by the command',
      arguments: 'words to the arguments of a tool',
      asking: 'questions in the terminal',
      results: 'results in the terminal, and in files',
      manifest: 'manifests and pins, loaded',
      docs: 'the documentation in the package: read, searched, served',
      completion: 'completion in shells',
      tape: 'tapes in files',
      'commands/use': 'call, list, read, prompt, subscribe, tasks',
      'commands/events': 'types listed, events followed, emitted and delivered again',
      prompt: 'the prompt of `fullmcp <target>`: one connection, completion, history',
      'commands/project/templates': 'new projects',
      'commands/project/serving': 'the server of a project, loaded',
      'commands/project/reloading': 'the server of a project, reloaded',
      'commands/project': 'new, dev, run',
      'commands/learn': 'docs, install-skill',
      'commands/operate/conformance': 'the official suite, run',
      'commands/check': 'inspect, manifest, test, eval, lint, diff, lock, record, replay',
      'commands/hosts': 'install, uninstall, discover',
      'commands/operate/doctor': 'problems of a server, found step by step',
      'commands/operate': 'bench, doctor, proxy',
      'commands/share/generate': 'types, docs and commands, generated',
      'commands/share/publishing': 'bundles, cards, registry documents',
      'commands/share': 'bundle, card, generate, publish',
      'commands/auth': 'login, logout, status, client documents',
      '.': 'all commands in one table',
    },
  },
};

/** Files that belong to one role although no folder in their path says so. Files of the two roles never import each other. */
export const ROLES = {
  'transports/websocket/accept.ts': 'server',
  'transports/websocket/connect.ts': 'client',
};

/** Rooms that need Node. Portable files may import types from them, but never load them. */
export const NODE_ROOMS = ['adapters/', 'transports/stdio/'];
export const MAY_USE_NODE = [
  ...NODE_ROOMS,
  'testing/',
  'testing.ts',
  'tooling/requests/request-file.ts',
  'evals/',
  'evals.ts',
  'inspector/',
  'inspector.ts',
  'cli/',
];
export const MAY_LOAD_NODE = [
  // With the first webhook, the hardened fetch.
  'index.ts',
  ...MAY_USE_NODE,
  'client.ts',
  'proxy.ts',
  'gateway.ts',
  'node.ts',
  'catalog.ts',
  'events.ts',
  'skills.ts',
  'stdio.ts',
  'fastify.ts',
  'code.ts',
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
export const NAMES_DAYS = [
  'server/state/behaviours.ts',
  'server/state/deprecations.ts',
  'evals/model/anthropic.ts',
  'testing/mock-model/anthropic.ts',
  'tooling/lint/host-profiles.ts',
];
export const REVISION = /^20\d\d-\d\d-\d\d$/;
/** Functions that distinguish eras. The two roles speak only the newest revision and never call them. */
export const ERA_QUESTIONS = ['has', 'within', 'mutual', 'sessionRevisions', 'newestSession'];
export const NEVER_ASK_FOR_ERA = ['server/', 'client/'];

export const MAX_ENTRIES = 18;
/** The files in src itself are the entries of the package, each of which users know by its name. */
export const MAX_PUBLIC_ENTRIES = 32;
/** Folders in src: each is a row of the table above, in the order of who may import whom. */
export const MAX_LAYERS = 21;

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
  const rows = Object.entries(LAYERS).map(
    ([folder, { what, may }]) =>
      `| \`${folder}\` | ${what} | ${may.map((one) => `\`${one}\``).join(', ') || 'nothing of ours'} |`,
  );
  return ['| folder | what it is | may import |', '|---|---|---|', ...rows].join('\n');
}
