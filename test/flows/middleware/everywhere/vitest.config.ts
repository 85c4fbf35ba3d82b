import { fileURLToPath, pathToFileURL } from 'node:url';
import { defineConfig } from 'vitest/config';
import shared from '../../../../vitest.config.js';
import { isOfTests } from './resolve.js';

// The flow tests once more, with every middleware on every server, in the processes that they start, too: `npm run flows`. With the variable
// FLOWS=mounted, every server is mounted two levels deep instead.

const aliases = shared.resolve?.alias as { find: RegExp; replacement: string }[];
const { projects, ...ofAll } = shared.test ?? {};
const url = (name: string): URL => new URL(name, import.meta.url);

export default defineConfig({
  ...shared,
  plugins: [
    {
      name: 'every-middleware',
      enforce: 'pre',
      resolveId(source, importer = '') {
        if (source !== 'fullmcp') return undefined;
        const isOfTest = isOfTests(pathToFileURL(importer).href);
        return fileURLToPath(url(isOfTest ? './fullmcp.js' : '../../../../src/index.ts'));
      },
    },
  ],
  // An alias would be applied before the plugin.
  resolve: { alias: aliases.filter(({ find }) => !find.test('fullmcp')) },
  test: {
    ...ofAll,
    root: fileURLToPath(url('../../../../')),
    include: ['test/flows/**/*.test.ts'],
    // A cache outside of middleware that looks at addresses keeps results for each of them.
    exclude: ['**/node_modules/**', 'test/flows/middleware/cache.test.ts'],
    env: { NODE_OPTIONS: `--import=${url('./register.js').href}` },
  },
});
