import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import LongestFirst from './test/support/longest-first.js';

/** Files that share the processes of a run, so that the library, a thousand modules, is not loaded anew for each of them. */
const shared = {
  isolate: false,
  restoreMocks: true,
  unstubEnvs: true,
  unstubGlobals: true,
  setupFiles: ['test/support/real-timers.ts'],
};

const source = (path: string): string => fileURLToPath(new URL(`./src/${path}`, import.meta.url));

/**
 * The suites, each a command of its own. `npm test` runs `alone`, and `quick`, which has every test that is in none of these.
 */
const suites = {
  // Tests that need a process of their own, because they look at what is left in it, replace modules that others have loaded, listen to
  // what others do, or use a server that others close.
  alone: [
    'test/examples/{auth/{protect,who-is-calling},certificates,client/telemetry,oauth-server,operations/audit}.test.ts',
    'test/flows/hostile/unread.test.ts',
    'test/openapi/without-yaml.test.ts',
    // They count the timers on a fake clock, where those of others would be counted, too.
    'test/unit/{async/{call-at,every,retries,waiting},client/calls/clock,middleware/{concurrency,timeout}}.test.ts',
    'test/unit/{state/{lease-keeper,memory/store-limits},transports/http/server/stream-timers}.test.ts',
    'test/unit/adapters/node/oauth/open-browser-platforms.test.ts',
    'test/unit/protocol/checks/same-options.test.ts',
    'test/unit/server/handle/stack.test.ts',
    'test/unit/transports/stdio/client/spawn-end.test.ts',
  ],
  // Peers from npm, which are installed first.
  peers: [
    'test/interop/*.test.ts',
    'test/cli/{check,conformance,share,use}/peers.test.ts',
    'test/cli/{check/{record,replay},operate/{bench,doctor,proxy},project/dev,share/generate}.test.ts',
    'test/flows/{proxy/{gateway,official-clients},sessions/clients}.test.ts',
    'test/inspector/session/foreign-servers.test.ts',
    'test/openapi/large-lists.test.ts',
  ],
  engines: [
    'test/unit/adapters/{postgres,redis,nats}/**/*.test.ts',
    'test/flows/{cluster,hostile/outages}/**/*.test.ts',
    'test/flows/code/killed-programs.test.ts',
    'test/flows/sessions/processes.test.ts',
    'test/flows/{deploys/{postgres,redis},events/{sources,webhooks}-killed}.test.ts',
  ],
  // Of the engines, the examples, which are started as a reader would.
  'engines-alone': ['test/examples/{cluster,{recipes,tracker}/postgres}.test.ts'],
  // Tests that take long for what they test: many streams, random rules, compilers, processes that are started and killed.
  long: [
    'test/cli/{auth/login,check/conformance,hostile,operate/{doctor-attacks,proxy-attacks}}.test.ts',
    'test/cli/events/own-server.test.ts',
    'test/cli/project/{caller,dev-attacks,dev-place,first-minute,new,run}.test.ts',
    'test/examples/{auth/login,basic-server,client/{basic,client},composition/{openapi,rest,routes},recipes/processes,tracker/checks}.test.ts',
    'test/flows/access/**/*.test.ts',
    'test/flows/code/{callers-apart,hostile-programs,killed-plans}.test.ts',
    'test/flows/{asking,auth/{edge,expiry,request-tricks},hostile/{http,websocket},middleware/{middleware,mounted}}.test.ts',
    'test/flows/{deploys/rolling,promises,sessions/{modes,questions,streams}}.test.ts',
    'test/flows/{oauth/{attacks,grants,network-attacks,proxy/token-attacks},proxy/asking,real-clients/{http,stdio}}.test.ts',
    'test/flows/{endings/{moments,phases,rolling},events/{attacks,both-ends,client-scenarios,gateways,killed,mounts,stacked,stream,webhooks},fallbacks/hosts}.test.ts',
    'test/unit/{client/events/{poll,stream,receiver/{hostile,subscribing}},extensions/events/webhooks/{deliveries,races}}.test.ts',
    'test/flows/tasks/{absence,busy-disk,crash,idempotency-crash,replicas,shutdown,trouble}.test.ts',
    'test/inspector/{host/{cli,journal-process,processes},session/{causes,demo,lying-servers,webhooks}}.test.ts',
    'test/openapi/{code-mode,generated-requests,rest/round-trip}.test.ts',
    'test/{simulation/*,stacks/stacks}.test.ts',
    'test/support/{second-attempts,shared-process}.test.ts',
    'test/types/{hover,misfit}.test.ts',
    'test/unit/client/tools/ai-sdk-types.test.ts',
    'test/unit/adapters/lmdb/{consistency,contract,failures,processes}.test.ts',
    'test/unit/adapters/quickjs/missing-package.test.ts',
    'test/unit/{adapters/quickjs/quickjs,server/code/{run-code,approval},server/references/handles}.test.ts',
    'test/unit/adapters/node/{audit/processes,config/workers-config,server/serve-refuses,workers/workers}.test.ts',
    'test/unit/connect/{gateway/pins,open/wire-ladder,proxy/{callers-apart,chains,proxy}}.test.ts',
    'test/unit/extensions/{tasks/{consent,leaving,versions,processes/{late-replies,takeover,two-processes},resumed},skills/many-files}.test.ts',
    'test/unit/legacy/server/http/shared-session-table.test.ts',
    'test/unit/middleware/{otel/processes,output-budget/output-budget}.test.ts',
    'test/unit/{oauth/server/dpop/dpop,protocol/telemetry/channels,schema/check/validator}.test.ts',
    'test/unit/scripts/check-{layers,numbers,promises}.test.ts',
    'test/unit/server/{asking/{divergence,random-handlers},handle/watching,catalog/listed-entries,watch/{shared-claims,watches}}.test.ts',
    'test/unit/evals/staleness.test.ts',
    'test/unit/testing/test-client/{collected-events,received}.test.ts',
    'test/unit/transports/stdio/server/{end,messages}.test.ts',
  ],
  // Of these, the ones that need a process of their own.
  'long-alone': [
    'test/flows/{client/{chaos,faults-*},load/**/*,tasks/load}.test.ts',
    'test/unit/client/tasks/following-tasks.test.ts',
    'test/unit/extensions/tasks/processes/{load,waiting}.test.ts',
    'test/unit/legacy/client/http/exchange.test.ts',
    'test/unit/middleware/facts/long-names.test.ts',
    'test/unit/transports/http/client/carriers.test.ts',
  ],
  chaos: ['test/chaos/{engines,events}.test.ts'],
  // The page of the inspector in Chromium.
  inspector: [
    'test/inspector/page/**/!(connect|keyboard|questions).test.ts',
    'test/inspector/host/browser-attacks.test.ts',
  ],
  // They close the demo, which the others use.
  'inspector-alone': ['test/inspector/page/{connect,keyboard,questions}.test.ts'],
  browser: ['test/browser/**/*.test.ts'],
  // The documentation as it is built, and in Chromium.
  site: ['test/site/**/*.test.ts'],
  runtimes: ['test/runtimes/**/*.test.ts'],
  hosts: ['test/hosts/**/*.test.ts'],
  // Exactly the version of `engines`.
  oldest: ['test/oldest-node/**/*.test.ts'],
  types: ['test/dist/**/*.test.ts'],
};

/** The suites whose files share processes, besides `quick`. Each of their files closes what it opens. */
const sharing = new Set(['inspector', 'browser', 'engines', 'long']);

export default defineConfig({
  resolve: {
    alias: [
      { find: /^fullmcp$/, replacement: source('index.ts') },
      { find: /^fullmcp\/(.+)$/, replacement: `${source('')}$1.ts` },
    ],
  },
  test: {
    exclude: ['**/node_modules/**'],
    projects: [
      {
        extends: true,
        test: {
          name: 'quick',
          include: ['test/**/*.test.ts'],
          exclude: Object.values(suites).flat(),
          ...shared,
        },
      },
      ...Object.entries(suites).map(([name, include]) => ({
        extends: true as const,
        test: {
          name,
          include,
          ...(sharing.has(name) && shared),
          ...(name === 'site' && { globalSetup: ['test/site/build.ts'] }),
        },
      })),
    ],
    globalSetup: ['test/support/built.ts', 'test/interop/install.ts'],
    ...(process.env['CI'] && { retry: 1 }),
    reporters: [
      'default',
      './test/support/second-attempts.ts',
      ...(process.env['RECORD'] ? ['./test/support/recorder.ts'] : []),
    ],
    // A busy machine may need several seconds for what usually takes some milliseconds.
    expect: { poll: { timeout: 20_000 } },
    testTimeout: 40_000,
    hookTimeout: 60_000,
    // Many tests wait for a process or a socket: with two workers for two cores, a third of the time nothing would happen.
    maxWorkers: 4,
    sequence: { sequencer: LongestFirst },
    // The commands transform the same sources, one after the other.
    experimental: { fsModuleCache: true },
    coverage: {
      provider: 'v8',
      include: ['src/**/*.ts'],
      reporter: ['text-summary', 'json-summary'],
      // Workers, replicas and stores that processes share also run in child processes, which are not measured.
      thresholds: { lines: 95 },
    },
  },
});
