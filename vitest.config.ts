import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const source = (path: string): string => fileURLToPath(new URL(`./src/${path}`, import.meta.url));

/** The suites, each a command of its own; `npm test` runs the first, that of the inspector's page, and everything that is in none of them. */
const suites = {
  // Tests that leave nothing behind in their process. They share the processes of the run, so that the library is not loaded anew for each
  // file, which takes longer than most of these tests. Tests that count what is left in their process cannot.
  sharing: [
    'test/unit/{cli,client,connect,inspector,jsonrpc,legacy,middleware,oauth,protocol,schema,server,testing}/**/!(shared-claims).test.ts',
    'test/unit/extensions/!(tasks)/!(many-files).test.ts',
    'test/flows/{auth,oauth,middleware,proxy}/**/!(asking|official-clients).test.ts',
  ],
  engines: [
    'test/unit/adapters/{postgres,redis,nats}/**/*.test.ts',
    'test/flows/{cluster,hostile/outages}/**/*.test.ts',
    'test/flows/sessions/processes.test.ts',
  ],
  long: [
    'test/cli/{hostile,*/peers,check/record,share/generate}.test.ts',
    'test/cli/project/**/*.test.ts',
    'test/examples/cluster.test.ts',
    'test/flows/{load,access}/**/*.test.ts',
    'test/flows/{client/chaos,client/faults-stdio,real-clients/stdio}.test.ts',
    'test/flows/endings/{moments,phases,rolling}.test.ts',
    'test/flows/proxy/{asking,official-clients}.test.ts',
    'test/flows/tasks/{absence,busy-disk,crash,idempotency-crash,load,replicas,shutdown}.test.ts',
    'test/inspector/page/{apps,hostile,many-messages,peers,attacks/*}.test.ts',
    'test/inspector/session/lying-servers.test.ts',
    'test/interop/{asking,inspector,login,migration,official-clients}.test.ts',
    'test/openapi/generated-requests.test.ts',
    'test/simulation/plants.test.ts',
    'test/unit/adapters/{lmdb,node/audit}/processes.test.ts',
    'test/unit/extensions/{tasks/processes/*,skills/many-files}.test.ts',
    'test/unit/server/watch/shared-claims.test.ts',
    'test/unit/transports/stdio/server/{end,messages}.test.ts',
  ],
  chaos: ['test/chaos/engines.test.ts'],
  // The page of the inspector in Chromium.
  inspector: ['test/inspector/page/!(apps|hostile|many-messages|peers).test.ts'],
  browser: ['test/browser/**/*.test.ts'],
  runtimes: ['test/runtimes/**/*.test.ts'],
  // Exactly the version of `engines`.
  oldest: ['test/oldest-node/**/*.test.ts'],
  types: ['test/dist/**/*.test.ts'],
};

const inOneProcess = { isolate: false, restoreMocks: true, unstubEnvs: true, unstubGlobals: true };

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
        test: { name: 'quick', include: ['test/**/*.test.ts'], exclude: Object.values(suites).flat() },
      },
      ...Object.entries(suites).map(([name, include]) => ({
        extends: true as const,
        test: { name, include, ...(name === 'sharing' && inOneProcess) },
      })),
    ],
    globalSetup: ['test/support/built.ts', 'test/interop/install.ts'],
    ...(process.env['CI'] && { retry: 1 }),
    reporters: ['default', './test/support/second-attempts.ts'],
    // A busy machine may need several seconds for what usually takes some milliseconds.
    expect: { poll: { timeout: 20_000 } },
    testTimeout: 40_000,
    hookTimeout: 60_000,
    // Many tests wait for a process or a socket: with two workers for two cores, a third of the time nothing would happen.
    maxWorkers: 3,
    coverage: {
      provider: 'v8',
      include: ['src/**/*.ts'],
      reporter: ['text-summary', 'json-summary'],
      // Workers, replicas and stores that processes share also run in child processes, which are not measured.
      thresholds: { lines: 95 },
    },
  },
});
