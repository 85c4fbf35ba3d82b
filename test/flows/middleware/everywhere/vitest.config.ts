import { fileURLToPath, pathToFileURL } from 'node:url';
import { defineConfig } from 'vitest/config';
import shared from '../../../../vitest.config.js';
import { isOfTests } from './resolve.js';

// The flow tests once more, with every middleware on every server, in the processes that they start, too: `npm run flows`.

const url = (name: string): URL => new URL(name, import.meta.url);

export default defineConfig({
  ...shared,
  plugins: [
    {
      name: 'every-middleware',
      enforce: 'pre',
      resolveId: (source, importer = '') =>
        source === 'fullmcp' && isOfTests(pathToFileURL(importer).href)
          ? fileURLToPath(url('./fullmcp.js'))
          : undefined,
    },
  ],
  test: {
    ...shared.test,
    root: fileURLToPath(url('../../../../')),
    include: ['test/flows/**/*.test.ts'],
    env: { NODE_OPTIONS: `--import=${url('./register.js').href}` },
  },
});
