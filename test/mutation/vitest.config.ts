// The tests that mutants run against: everything that needs neither an engine, a browser, nor a build.
import { defineConfig } from 'vitest/config';
import base from '../../vitest.config.js';

const rooms = (process.env['MUTATION_TESTS'] ?? '').split(',');

export default defineConfig({
  root: new URL('../../', import.meta.url).pathname,
  resolve: base.resolve ?? {},
  test: {
    include: rooms.map((room) => `test/${room}/**/*.test.ts`),
    exclude: [
      '**/node_modules/**',
      'test/unit/adapters/{postgres,redis,nats}/**',
      'test/unit/extensions/tasks/processes/**',
      'test/unit/oauth/server/dpop/**',
      // It starts a program of the build, which a sandbox does not have.
      'test/unit/protocol/telemetry/operator-log.test.ts',
    ],
    // Stryker itself ends tests that a mutant keeps from ending. On a busy machine, others must not be taken for those.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    setupFiles: ['test/support/real-timers.ts'],
  },
});
