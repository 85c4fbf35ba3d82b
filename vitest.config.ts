import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const source = (path: string): string => fileURLToPath(new URL(`./src/${path}`, import.meta.url));

export default defineConfig({
  resolve: {
    alias: [
      { find: /^fullmcp$/, replacement: source('index.ts') },
      { find: /^fullmcp\/(.+)$/, replacement: `${source('')}$1.ts` },
    ],
  },
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['**/node_modules/**'],
    globalSetup: ['test/support/built.ts', 'test/interop/install.ts'],
    testTimeout: 20_000,
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
