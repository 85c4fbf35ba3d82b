// Every page of the documentation, in the order in which a reader meets it. The site's bars, the lists for models, the search and the
// pages inside the package are made from this table. A page is listed once; pages of the reference and of commands are found in their
// folders.

/**
 * A page: its file below docs, a short name for a bar at the side, the words that people use when they look for it, and whether it is
 * for the first day (`start`) or for a server that runs in production (`later`).
 *
 * @typedef {{ file: string, name: string, asks?: string, day?: 'start' | 'later' }} Page
 *
 * A section: its name in the bar at the top, one sentence that says what is there, and its groups of pages.
 * @typedef {{ name: string, about: string, groups: { name: string, pages: Page[] }[] }} Section
 */

/** The page with the doors to the sections. @type {Page} */
export const home = {
  file: 'index.md',
  name: 'Home',
  asks: 'fullmcp documentation overview home begin start what is mcp',
};

/** Pages of the repository, outside of docs, which the site shows as well. @type {Page[]} */
export const repositoryPages = [
  {
    file: '../README.md',
    name: 'README',
    asks: 'readme features overview introduction quick example tour summary',
  },
  { file: '../CHANGELOG.md', name: 'Changes' },
  {
    file: '../CONTRIBUTING.md',
    name: 'Contribute',
    asks: 'contribute contributing pull request develop patch clone build repository',
  },
  {
    file: '../SECURITY.md',
    name: 'Report a weakness',
    asks: 'vulnerability report disclosure cve threat model security weakness exploit',
  },
  {
    file: '../MAINTAINERS.md',
    name: 'Maintainers',
    asks: 'maintainers maintainer who owns governance people contact bus factor',
  },
];

/** @type {Section[]} */
export const sections = [
  {
    name: 'Learn',
    about: 'Build one real program, step by step, and find the page that you need next.',
    groups: [
      {
        name: 'Tutorial',
        pages: [
          {
            file: 'learn/index.md',
            name: 'The program',
            asks: 'tutorial learn course beginner getting started walkthrough lessons sample project issue tracker',
            day: 'start',
          },
          {
            file: 'learn/1-tools.md',
            name: '1 Tools and types',
            asks: 'tutorial first lesson begin empty folder npm init hello world sample project',
            day: 'start',
          },
          {
            file: 'learn/2-resources.md',
            name: '2 Resources and prompts',
            asks: 'tutorial second lesson issue template autocomplete triage sample read and watch',
            day: 'start',
          },
          {
            file: 'learn/3-ask.md',
            name: '3 Asking the user',
            asks: 'tutorial third lesson confirmation pitfall handler runs twice duplicate line sample',
            day: 'start',
          },
          {
            file: 'learn/4-task.md',
            name: '4 A task that survives',
            asks: 'tutorial fourth lesson import csv kill 9 lmdb crash sample',
            day: 'start',
          },
          {
            file: 'learn/5-users.md',
            name: '5 Users and scopes',
            asks: 'tutorial fifth lesson team members author edits own issue sample',
            day: 'start',
          },
          {
            file: 'learn/6-tests.md',
            name: '6 Tests',
            asks: 'tutorial sixth lesson node runner fourteen examples sample suite',
            day: 'start',
          },
          {
            file: 'learn/7-processes.md',
            name: '7 Two processes',
            asks: 'tutorial seventh lesson balancer four terminals stop process sample',
            day: 'start',
          },
          {
            file: 'learn/8-operate.md',
            name: '8 Deploy and watch',
            asks: 'tutorial eighth lesson go live checklist compose file production sample',
            day: 'start',
          },
        ],
      },
      {
        name: 'Start',
        pages: [
          {
            file: 'typescript.md',
            name: 'Install',
            day: 'start',
            asks: 'install setup begin start new project tsconfig javascript node version esm commonjs',
          },
          {
            file: 'clients.md',
            name: 'Add to your client',
            day: 'start',
            asks: 'claude desktop cursor vscode windsurf codex gemini chatgpt mcp.json config host editor',
          },
          {
            file: 'transports.md',
            name: 'Which transport',
            day: 'start',
            asks: 'which transport choose pick decide between stdio http websocket sse difference',
          },
          {
            file: 'imports.md',
            name: 'Which import',
            day: 'start',
            asks: 'which import where export entry module package path subpath find need',
          },
          {
            file: 'for-agents.md',
            name: 'For coding agents',
            day: 'start',
            asks: 'ai assistant llm copilot cursor claude code write skill agents.md llms.txt offline docs',
          },
          {
            file: 'concepts.md',
            name: 'Concepts',
            day: 'start',
            asks: 'mcp basics concepts terms glossary host handler session capability revision explained overview',
          },
        ],
      },
      {
        name: 'Recipes',
        pages: [
          {
            file: 'recipes.md',
            name: 'Recipes',
            day: 'start',
            asks: 'recipes examples samples snippets cookbook how to short programs copy',
          },
          {
            file: 'recipes/image.md',
            name: 'An image with a caption',
            day: 'start',
            asks: 'return image picture png screenshot chart caption base64 content block',
          },
          {
            file: 'recipes/progress.md',
            name: 'Stream progress',
            day: 'start',
            asks: 'stream progress bar percent partial notification onProgress long running',
          },
          {
            file: 'recipes/paginate.md',
            name: 'Paginate a long list',
            day: 'start',
            asks: 'paginate pages cursor next limit offset many rows list tool',
          },
          {
            file: 'recipes/truncate.md',
            name: 'Truncate large results',
            day: 'start',
            asks: 'truncate shorten large output too many tokens context window budget',
          },
          {
            file: 'recipes/confirm.md',
            name: 'Confirm before deleting',
            day: 'start',
            asks: 'confirm confirmation before deleting approve human in the loop dangerous are you sure',
          },
          {
            file: 'recipes/form.md',
            name: 'A form of three fields',
            day: 'start',
            asks: 'form fields elicit schema enum date input dialog user fills in',
          },
          {
            file: 'recipes/open-url.md',
            name: 'Send the user to a page',
            day: 'start',
            asks: 'open url browser page payment oauth redirect wait elicitation url mode',
          },
          {
            file: 'recipes/admin-tool.md',
            name: 'A tool that only admins see',
            day: 'start',
            asks: 'only admins admin tool hide visible role permission restrict rbac',
          },
          {
            file: 'recipes/tenants.md',
            name: 'Data of each tenant',
            day: 'start',
            asks: 'multi tenant tenant company organization per customer data isolation claims',
          },
          {
            file: 'recipes/api-key.md',
            name: 'An API key for a script',
            day: 'start',
            asks: 'api key static token script cron machine secret bearer service account',
          },
          {
            file: 'recipes/google-login.md',
            name: 'Login with Google',
            day: 'start',
            asks: 'google login sign in oauth gmail workspace social account hosted domain',
          },
          {
            file: 'recipes/rate-limit.md',
            name: 'Rate limit per user',
            day: 'later',
            asks: 'rate limit per user quota throttle 429 too many requests expensive tool',
          },
          {
            file: 'recipes/cache.md',
            name: 'Cache a slow tool',
            day: 'later',
            asks: 'cache slow tool memoize ttl expensive upstream same arguments',
          },
          {
            file: 'recipes/cancel.md',
            name: 'Cancel a slow query',
            day: 'later',
            asks: 'cancel abort slow query postgres pg_cancel_backend signal stop timeout database',
          },
          {
            file: 'recipes/retry.md',
            name: 'Retry an upstream',
            day: 'later',
            asks: 'retry upstream flaky backoff circuit breaker proxy unreliable overloaded 503',
          },
          {
            file: 'recipes/nightly-job.md',
            name: 'A nightly job',
            day: 'later',
            asks: 'nightly job cron schedule batch background task start collect later',
          },
          {
            file: 'recipes/resume.md',
            name: 'Resume after a crash',
            day: 'later',
            asks: 'resume after crash kill restart continue lmdb durable survive steps',
          },
          {
            file: 'recipes/exactly-once.md',
            name: 'Exactly once into Postgres',
            day: 'later',
            asks: 'exactly once postgres transaction atomic no duplicate booking payment',
          },
          {
            file: 'recipes/express.md',
            name: 'In Express, beside an app',
            day: 'later',
            asks: 'express mount existing app route middleware node same port beside',
          },
          {
            file: 'recipes/three-servers.md',
            name: 'One endpoint for three servers',
            day: 'later',
            asks: 'gateway aggregate combine several servers one endpoint prefix hub mcp.json',
          },
          {
            file: 'recipes/openapi.md',
            name: 'Five tools from OpenAPI',
            day: 'later',
            asks: 'openapi swagger rest api tools from specification choose operations',
          },
          {
            file: 'recipes/trace.md',
            name: 'Trace through two processes',
            day: 'later',
            asks: 'trace distributed tracing opentelemetry otel span traceparent two services',
          },
          {
            file: 'recipes/ai-sdk.md',
            name: 'Tools for the AI SDK',
            day: 'later',
            asks: 'ai sdk vercel generateText streamText model agent llm tools',
          },
          {
            file: 'recipes/replay.md',
            name: 'Record and replay a session',
            day: 'later',
            asks: 'record replay session tape fixture vcr offline test ci recorded',
          },
          {
            file: 'recipes/breaking-change.md',
            name: 'Fail CI on a breaking change',
            day: 'later',
            asks: 'breaking change ci contract schema diff manifest compatibility github actions',
          },
        ],
      },
      {
        name: 'Move here',
        pages: [
          {
            file: 'migrate-from-the-official-sdk.md',
            name: 'From the official SDK',
            day: 'start',
            asks: 'migrate official sdk modelcontextprotocol mcpserver registertool switch port convert replace',
          },
          {
            file: 'migrate-from-fastmcp.md',
            name: 'From FastMCP',
            day: 'start',
            asks: 'fastmcp migrate python punkpeye addtool switch convert replace move',
          },
        ],
      },
    ],
  },
  {
    name: 'Guides',
    about: 'One page for each thing that a server or a client does.',
    groups: [
      {
        name: 'Define',
        pages: [
          {
            file: 'server.md',
            name: 'Define a server',
            asks: 'create define build own server instructions definition mistakes unknown option DefinitionError first',
            day: 'start',
          },
          {
            file: 'tools.md',
            name: 'Tools',
            day: 'start',
            asks: 'add a tool with zod schema input arguments return image error annotations structured output ToolError',
          },
          {
            file: 'resources.md',
            name: 'Resources',
            day: 'start',
            asks: 'resource template uri file read list pagination cursor paginate long lists expose data',
          },
          {
            file: 'prompts.md',
            name: 'Prompts',
            day: 'start',
            asks: 'prompt template slash command completion autocomplete suggest argument values messages assistant user',
          },
          {
            file: 'context.md',
            name: 'Context',
            day: 'start',
            asks: 'ctx context progress log logger cancel signal abort stream generator lifespan database state user defineWith',
          },
          {
            file: 'changes.md',
            name: 'Announce changes',
            day: 'later',
            asks: 'notify clients list_changed updated changed announce changes listChanged watch onSubscribe push notification',
          },
          {
            file: 'dynamic-definitions.md',
            name: 'Dynamic definitions',
            day: 'later',
            asks: 'register remove tools at runtime dynamic imperative fluent custom method in-process call inProcess definitions',
          },
          {
            file: 'asking.md',
            name: 'Ask the user',
            asks: 'ask the user from a tool confirm form question elicitation elicit input sampling llm roots approval step replay',
            day: 'start',
          },
          {
            file: 'asking-in-production.md',
            name: 'Asking in production',
            day: 'later',
            asks: 'secret MCP_SECRET requestState rejected rotate answers count once expired question session raw form inputRequired',
          },
          {
            file: 'tasks.md',
            name: 'Tasks',
            asks: 'long job that survives a restart background task async poll status progress lmdb store durable queue worker',
            day: 'start',
          },
          {
            file: 'tasks-in-production.md',
            name: 'Tasks in production',
            day: 'later',
            asks: 'crash recovery kill resume exactly once transaction lease deploy changed handler task limits ttl full store',
          },
          {
            file: 'events.md',
            name: 'Events',
            day: 'start',
            asks: 'event emit notify push poll stream subscribe cursor something happened tell the client trigger',
          },
          {
            file: 'events-in-production.md',
            name: 'Events in production',
            day: 'later',
            asks: 'operate events webhooks stored retention how long monitor dead letters redeliver suspended subscriptions limits alert',
          },
          {
            file: 'idempotency.md',
            name: 'Idempotency keys',
            day: 'later',
            asks: 'idempotency idempotent key retry duplicate twice once same call repeated unknown_outcome payment',
          },
          {
            file: 'state.md',
            name: 'State',
            day: 'start',
            asks: 'remember keep save data session memory per user store counter between calls',
          },
          {
            file: 'events-client.md',
            name: 'Receive events',
            day: 'later',
            asks: 'events client follow listen stream poll webhook receiver signature verify secret subscribe resume cursor',
          },
          {
            file: 'subscribe.md',
            name: 'Subscriptions',
            day: 'later',
            asks: 'subscribe notify notification changed updates push listen watch realtime event',
          },
          {
            file: 'apps.md',
            name: 'Apps',
            day: 'later',
            asks: 'ui html widget iframe chart page visual interface button render',
          },
          {
            file: 'skills.md',
            name: 'Skills',
            day: 'later',
            asks: 'skill skills skill.md instructions folder agent teach markdown',
          },
          {
            file: 'search.md',
            name: 'Tool search',
            day: 'later',
            asks: 'hundreds thousands too many tools find search context window tokens lazy',
          },
          {
            file: 'handles.md',
            name: 'Handles',
            day: 'later',
            asks: 'handle reference large value pass result to another tool json pointer summary tokens rows',
          },
          {
            file: 'code-mode.md',
            name: 'Code mode',
            day: 'later',
            asks: 'code mode program script sandbox quickjs javascript typescript execute loop many calls model writes',
          },
          {
            file: 'extensions.md',
            name: 'Extensions',
            day: 'later',
            asks: 'extension custom method own protocol capability vendor experimental extend',
          },
        ],
      },
      {
        name: 'Serve',
        pages: [
          {
            file: 'stdio.md',
            name: 'stdio',
            day: 'start',
            asks: 'console.log stdout stdin breaks broken print local process spawn subprocess pipe',
          },
          {
            file: 'http.md',
            name: 'HTTP',
            asks: 'serve over http express fastify hono next.js koa streamable mount framework listen port cors origin 403',
            day: 'start',
          },
          {
            file: 'http-in-production.md',
            name: 'HTTP in production',
            day: 'later',
            asks: 'reverse proxy nginx trustProxy x-forwarded-for sessions limits body size timeout graceful shutdown drain sigterm',
          },
          {
            file: 'https.md',
            name: 'HTTPS',
            day: 'later',
            asks: 'https tls certificate renew letsencrypt mtls mutual client certificate pem',
          },
          {
            file: 'websocket.md',
            name: 'WebSocket',
            day: 'later',
            asks: 'websocket ws wss socket bidirectional ping serveWebSocket subprotocol',
          },
          {
            file: 'server-card.md',
            name: 'Server card',
            day: 'later',
            asks: 'server card well-known ai-catalog discovery publish address metadata directory',
          },
          {
            file: 'services.md',
            name: 'NATS and discovery',
            day: 'later',
            asks: 'nats discovery discover service name registry find microservice message bus',
          },
          {
            file: 'rest.md',
            name: 'REST',
            day: 'later',
            asks: 'rest api curl json expose tools plain http swagger endpoints without mcp',
          },
          {
            file: 'routes.md',
            name: 'From routes',
            day: 'later',
            asks: 'existing routes express fastify hono app controllers handlers turn into tools',
          },
          {
            file: 'openapi.md',
            name: 'From OpenAPI',
            day: 'start',
            asks: 'openapi swagger document spec specification yaml generate tools existing api import',
          },
        ],
      },
      {
        name: 'Use',
        pages: [
          {
            file: 'connect.md',
            name: 'Connect',
            asks: 'connect client url stdio process command target options headers token error cannot reach close',
            day: 'start',
          },
          {
            file: 'connect-in-production.md',
            name: 'Connections in production',
            day: 'later',
            asks: 'reconnect status ping revision detection known tls ca certificate corporate proxy browser cors HTTPS_PROXY limits',
          },
          {
            file: 'call.md',
            name: 'Call',
            asks: 'call a tool client result typed list progress cancel timeout errors code task unwrap',
            day: 'start',
          },
          {
            file: 'call-in-production.md',
            name: 'Calls in production',
            day: 'later',
            asks: 'retry safe retries cache results fresh idempotencyKey custom request source requestId client middleware',
          },
          {
            file: 'answer.md',
            name: 'Answer questions',
            day: 'start',
            asks: 'answer respond client handle questions handler approve consent',
          },
          {
            file: 'many-servers.md',
            name: 'Many servers',
            day: 'start',
            asks: 'several multiple servers one client mcp.json list together config merge',
          },
          {
            file: 'log-in.md',
            name: 'Log in',
            day: 'start',
            asks: 'login oauth client browser authorize refresh token sign pkce redirect callback',
          },
          {
            file: 'machine-to-machine.md',
            name: 'Machine to machine',
            day: 'later',
            asks: 'machine client credentials service account robot cron ci workload identity exchange',
          },
          {
            file: 'models.md',
            name: 'Tools for models',
            day: 'start',
            asks: 'openai anthropic vercel ai sdk llm gpt claude function calling agent loop',
          },
        ],
      },
      {
        name: 'Compose',
        pages: [
          {
            file: 'composition.md',
            name: 'What to expect',
            day: 'later',
            asks: 'combine stack order together guarantee layers nested behave expect',
          },
          {
            file: 'compose.md',
            name: 'One from several',
            day: 'later',
            asks: 'mount namespace prefix split modules merge several into one server',
          },
          {
            file: 'proxy.md',
            name: 'In front of another',
            day: 'later',
            asks: 'proxy forward bridge stdio remote in front convert wrap relay',
          },
          {
            file: 'gateway.md',
            name: 'Many as one',
            day: 'later',
            asks: 'gateway aggregate many servers one endpoint central router hub upstream',
          },
          {
            file: 'catalog.md',
            name: 'Catalogs',
            day: 'later',
            asks: 'hot reload folder files database dynamic load definitions runtime plugin tenant',
          },
          {
            file: 'transform.md',
            name: 'Change tools',
            day: 'later',
            asks: 'rename hide version change description override wrap tools v2 deprecate',
          },
        ],
      },
      {
        name: 'Test',
        pages: [
          {
            file: 'testing.md',
            name: 'Testing',
            asks: 'test without a port unit test vitest jest node:test testClient matchers answers fixture',
            day: 'start',
          },
          {
            file: 'testing-in-depth.md',
            name: 'Testing in depth',
            day: 'later',
            asks: 'everyWire wires transports revisions notifications received faults flaky network seed middleware buildCall',
          },
          {
            file: 'testing-clients.md',
            name: 'Testing clients',
            day: 'later',
            asks: 'mock server mock model llm record replay recording tape fixture agent test fake mockServer mockModel recorder',
          },
          {
            file: 'evals.md',
            name: 'Evals with models',
            day: 'later',
            asks: 'evals evaluation llm model benchmark accuracy score anthropic openai ollama tool choice confusion regression',
          },
          {
            file: 'requests.md',
            name: 'Requests that stay',
            day: 'later',
            asks: 'saved requests collection regression snapshot expected repeat compare share',
          },
          {
            file: 'inspector.md',
            name: 'Inspector',
            day: 'start',
            asks: 'inspector debug gui devtools postman look see messages traffic browser',
          },
        ],
      },
    ],
  },
  {
    name: 'Reference',
    about: 'Every export with its types, generated from the source.',
    groups: [],
  },
  {
    name: 'Command',
    about: 'The `fullmcp` command: use servers, make them, check them, share them.',
    groups: [
      {
        name: 'Command',
        pages: [
          {
            file: 'cli.md',
            name: 'Overview',
            day: 'start',
            asks: 'command line terminal shell npx script flags bash exit code',
          },
        ],
      },
    ],
  },
  {
    name: 'Operate',
    about: 'Deploy, configure, scale, watch, and find out what is wrong.',
    groups: [
      {
        name: 'Operate',
        pages: [
          {
            file: 'deploy.md',
            name: 'Deploy',
            asks: 'deploy hosting production checklist cloud server run where environment variables secret public url',
            day: 'start',
          },
          {
            file: 'deploy-systemd.md',
            name: 'systemd',
            day: 'later',
            asks: 'systemd unit linux vps service restart journal machine',
          },
          {
            file: 'deploy-docker.md',
            name: 'Docker',
            day: 'later',
            asks: 'docker dockerfile compose container image distroless podman healthcheck',
          },
          {
            file: 'deploy-kubernetes.md',
            name: 'Kubernetes',
            day: 'later',
            asks: 'kubernetes k8s pod probe readiness liveness ingress helm deployment manifest',
          },
          {
            file: 'deploy-fly.md',
            name: 'Fly',
            day: 'later',
            asks: 'fly.io fly machines fly.toml scale to zero',
          },
          {
            file: 'deploy-render.md',
            name: 'Render',
            day: 'later',
            asks: 'render.com blueprint render.yaml free plan',
          },
          {
            file: 'deploy-cloud-run.md',
            name: 'Cloud Run',
            day: 'later',
            asks: 'google cloud run gcp gcloud knative service',
          },
          {
            file: 'deploy-vercel.md',
            name: 'Vercel',
            day: 'later',
            asks: 'vercel serverless function edge next maxDuration',
          },
          {
            file: 'deploy-workers.md',
            name: 'Cloudflare Workers',
            day: 'later',
            asks: 'deploy to cloudflare workers wrangler edge isolate worker waitUntil',
          },
          {
            file: 'deploy-deno.md',
            name: 'Deno Deploy',
            day: 'later',
            asks: 'deno deploy deno.json jsr permissions bun runtime',
          },
          {
            file: 'deploy-lambda.md',
            name: 'AWS Lambda',
            day: 'later',
            asks: 'aws lambda api gateway function url serverless streaming esbuild bundle',
          },
          {
            file: 'configure.md',
            name: 'Configure',
            day: 'later',
            asks: 'environment variables env config file settings options secret port dotenv',
          },
          {
            file: 'scale.md',
            name: 'Many processes',
            asks: 'two replicas postgres scale several processes horizontally cluster load balancer sticky workers many machines',
            day: 'start',
          },
          {
            file: 'postgres.md',
            name: 'Postgres',
            day: 'later',
            asks: 'postgresql pg pgbouncer poolSize schema grants transaction database engine synchronous standby',
          },
          {
            file: 'redis.md',
            name: 'Redis',
            day: 'later',
            asks: 'redis valkey ioredis appendonly eviction failover cluster engine',
          },
          {
            file: 'nats.md',
            name: 'NATS',
            day: 'later',
            asks: 'nats jetstream engine bus event log cluster',
          },
          {
            file: 'hosts.md',
            name: 'Hosts and directories',
            day: 'later',
            asks: 'chatgpt claude copilot cursor gemini codex submit directory review rejected profile lint doctor host rules limits',
          },
          {
            file: 'deploys.md',
            name: 'Deploys',
            day: 'later',
            asks: 'rolling deploy zero downtime upgrade version rotate secret tags old clients stale schema waiting tasks migrate',
          },
          {
            file: 'capacity.md',
            name: 'Capacity',
            day: 'later',
            asks: 'capacity how many clients million connections throughput memory figures benchmark sizing',
          },
          {
            file: 'middleware.md',
            name: 'Middleware',
            asks: 'rate limit per user throttle logging timeout queue concurrency 429 requests middleware size errors mask',
            day: 'start',
          },
          {
            file: 'large-results.md',
            name: 'Large results',
            day: 'later',
            asks: 'truncate large result too long output tokens context budget shorten paging',
          },
          {
            file: 'cache.md',
            name: 'Caching',
            day: 'later',
            asks: 'cache results slow tool ttl memoize cacheScope invalidate',
          },
          {
            file: 'retry.md',
            name: 'Retries',
            day: 'later',
            asks: 'retry upstream circuit breaker backoff resilience cockatiel flaky overloaded',
          },
          {
            file: 'own-middleware.md',
            name: 'Your own middleware',
            day: 'later',
            asks: 'write custom own middleware hook intercept wrap call next before after interceptor single tool',
          },
          {
            file: 'telemetry.md',
            name: 'Telemetry',
            day: 'later',
            asks: 'prometheus metrics opentelemetry tracing trace spans grafana datadog monitor observability',
          },
          {
            file: 'troubleshooting.md',
            name: 'Troubleshooting',
            day: 'start',
            asks: 'error fails 401 403 404 invalid audience wrong missing empty see cursor',
          },
        ],
      },
    ],
  },
  {
    name: 'Security',
    about: 'Decide who may call what, how callers prove who they are, and what is recorded.',
    groups: [
      {
        name: 'Security',
        pages: [
          {
            file: 'protect-a-server.md',
            name: 'Protect a server',
            asks: 'api key authentication jwt token oauth protect secure bearer 401 login auth authorization header scopes audience',
            day: 'start',
          },
          {
            file: 'providers.md',
            name: 'Providers',
            day: 'later',
            asks: 'auth0 clerk cognito entra azure keycloak okta workos openid oidc jwks introspection provider setup',
          },
          {
            file: 'protect-in-production.md',
            name: 'Protection in production',
            day: 'later',
            asks: 'dpop several providers anyOf refused credentials log expired token stream ends cost brute force',
          },
          {
            file: 'who-is-calling.md',
            name: 'Callers',
            day: 'start',
            asks: 'current user identity caller claims subject tenant account header who',
          },
          {
            file: 'access.md',
            name: 'Access rules',
            day: 'start',
            asks: 'scope scopes permission role rbac hide admin only allow deny authorization without',
          },
          {
            file: 'oauth-proxy.md',
            name: 'OAuth proxy',
            day: 'later',
            asks: 'google github login log sign social oauth provider users microsoft discord',
          },
          {
            file: 'policy.md',
            name: 'Policies',
            day: 'later',
            asks: 'policy rules opa cedar decide guardrail guard refuse block dangerous approve',
          },
          {
            file: 'audit.md',
            name: 'Audit log',
            day: 'later',
            asks: 'audit trail record compliance tamper evidence history who did what soc2',
          },
        ],
      },
    ],
  },
  {
    name: 'Project',
    about: 'Read what is promised, how it is tested, how it compares, and how it is built.',
    groups: [
      {
        name: 'Project',
        pages: [
          {
            file: 'how-it-is-tested.md',
            name: 'How it is tested',
            asks: 'tested tests quality trust reliable coverage mutation chaos fuzz numbers',
          },
          {
            file: 'comparison.md',
            name: 'Comparison',
            asks: 'compare comparison alternative versus vs better faster benchmark why other',
          },
          {
            file: 'rough-edges.md',
            name: 'Rough edges',
            asks: 'limitation limitations known problems missing caveat bug unsupported gap regret',
          },
          {
            file: 'stability.md',
            name: 'Stability',
            asks: 'stable stability public api semver breaking guarantee exports names',
          },
          {
            file: 'semver.md',
            name: 'Semantic versioning',
            asks: 'semver breaking change major minor patch public api version promise drafts',
          },
          {
            file: 'support.md',
            name: 'Support',
            asks: 'lts end of life supported node versions how long maintenance dates',
          },
          {
            file: 'upgrade-to-1.0.md',
            name: 'Upgrade to 1.0',
            asks: 'upgrade migrate 0.1 breaking changes renamed types removed names',
          },
          {
            file: 'compatibility.md',
            name: 'Deprecations',
            asks: 'deprecated deprecation warning old older revision removed backwards compat versions',
          },
          {
            file: 'releasing.md',
            name: 'Releasing',
            asks: 'publish release verify tarball reproducible build provenance sbom cyclonedx supply chain',
          },
          {
            file: 'tiers.md',
            name: 'Tiers',
            asks: 'sdk tier 1 conformance suite official requirements score sep passes',
          },
          {
            file: 'dependencies.md',
            name: 'Dependencies',
            asks: 'dependencies size bundle kilobytes weight licence supply chain packages install',
          },
          {
            file: 'architecture.md',
            name: 'Architecture',
            asks: 'architecture internals design inside works source layers contribute code',
          },
          {
            file: 'rooms.md',
            name: 'Rooms',
            asks: 'rooms folders map source modules directory ownership owner where code lives',
          },
        ],
      },
      {
        name: 'Deprecated',
        pages: [
          {
            file: 'deprecations/fmdep001.md',
            name: 'FMDEP001: ctx.sample',
            asks: 'fmdep001 sampling createMessage deprecated warning',
          },
          {
            file: 'deprecations/fmdep002.md',
            name: 'FMDEP002: includeContext',
            asks: 'fmdep002 includecontext sampling deprecated warning',
          },
          {
            file: 'deprecations/fmdep003.md',
            name: 'FMDEP003: ctx.roots',
            asks: 'fmdep003 roots list folders deprecated warning',
          },
          {
            file: 'deprecations/fmdep004.md',
            name: 'FMDEP004: ctx.log',
            asks: 'fmdep004 logging message client deprecated',
          },
          {
            file: 'deprecations/fmdep005.md',
            name: 'FMDEP005: HTTP+SSE',
            asks: 'fmdep005 sse transport old deprecated',
          },
          {
            file: 'deprecations/fmdep006.md',
            name: 'FMDEP006: old commands',
            asks: 'fmdep006 renamed command verify conformance card old form',
          },
        ],
      },
    ],
  },
];
