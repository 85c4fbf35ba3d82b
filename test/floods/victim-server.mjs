// A server that is flooded. It serves on every transport, and reports its memory use to its parent.
import { createServer, tool } from '../../dist/index.js';
import { serve } from '../../dist/node.js';
import { serveStdio } from '../../dist/stdio.js';
import { reportMemory } from './memory.mjs';

const size = { type: 'object', properties: { size: { type: 'number' } } };
const server = createServer({
  name: 'victim',
  version: '1',
  changes: true,
  tools: {
    big: tool({ input: size, run: ({ size: length = 1_000_000 }) => 'x'.repeat(length) }),
    hang: tool({
      run: (_input, { signal }) =>
        new Promise((resolve) => signal.addEventListener('abort', () => resolve('ended'), { once: true })),
    }),
    flood: tool({
      run: async (_input, { signal, progress }) => {
        const message = 'x'.repeat(16_384);
        for (let at = 1; !signal.aborted; at++) {
          progress(at, undefined, message);
          await new Promise((resolve) => setImmediate(resolve));
        }
        return 'stopped';
      },
    }),
  },
});

if (process.argv[2] === 'stdio') serveStdio(server);
const { port } = process.argv[2] === 'stdio' ? { port: 0 } : await serve(server, { port: 0, signals: false });
reportMemory({ port });
