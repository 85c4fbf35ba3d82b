import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { createServer, tool } from 'fullmcp';
import type { Client } from 'fullmcp/client';
import { z } from 'zod';

export default createServer({
  name: 'archive',
  version: '1.0.0',
  tools: {
    compress: tool({
      description: 'Compress documents, and report how small they become',
      input: z.object({ documents: z.array(z.string().max(1_000_000)).min(1).max(100) }),
      async run({ documents }, { progress, signal }) {
        let bytes = 0;
        for (const [done, text] of documents.entries()) {
          signal.throwIfAborted();
          bytes += (await promisify(gzip)(text)).length;
          progress(done + 1, documents.length, `Compressed document ${done + 1}`);
        }
        return { documents: documents.length, bytes };
      },
    }),
  },
});

/** The other end: shows each step as it happens. */
export async function compress(client: Client, documents: readonly string[], show: (line: string) => void) {
  const { data } = await client.callTool(
    'compress',
    { documents },
    { onProgress: ({ progress, total, message }) => show(`${progress} of ${total}: ${message}`) },
  );
  return data;
}
