import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { type OutputChunk, rolldown } from 'rolldown';

// A website: a page whose script is bundled from the package as it is shipped.

export interface Site extends AsyncDisposable {
  readonly port: number;
  /** The client's files that were fetched since the last call, with their sizes when gzipped. */
  readonly loaded: () => ReadonlyMap<string, number>;
}

const root = fileURLToPath(new URL('../..', import.meta.url));

// The strictest policy that lets a page connect to other origins.
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  'connect-src http://localhost:* http://127.0.0.1:* ws://localhost:*',
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

export async function openSite(): Promise<Site> {
  const bundled = await bundle();
  const html = await readFile(new URL('fixtures/page.html', import.meta.url));
  const files = new Map(
    bundled.map(({ fileName, code, ...chunk }) => [`/${fileName}`, { ...chunk, code: gzipSync(code) }]),
  );
  let loaded = new Map<string, number>();

  const http = createServer((req, res) => {
    const { pathname } = new URL(req.url ?? '/', 'http://localhost');
    if (pathname === '/') {
      res.writeHead(200, { 'content-type': 'text/html', 'content-security-policy': policy });
      return void res.end(html);
    }
    const file = files.get(pathname);
    if (file === undefined) return void res.writeHead(404).end();
    const { code, name, isEntry } = file;
    if (!isEntry) loaded.set(name, code.length);
    res.writeHead(200, {
      'content-type': 'text/javascript',
      'content-encoding': 'gzip',
      'cache-control': 'no-store',
    });
    res.end(code);
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));

  return {
    port: (http.address() as AddressInfo).port,
    loaded() {
      const since = loaded;
      loaded = new Map();
      return since;
    },
    async [Symbol.asyncDispose]() {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}

/** The page's script, and the client in separate files, so that they can be distinguished. */
async function bundle(): Promise<OutputChunk[]> {
  await promisify(execFile)(process.execPath, ['scripts/build.js'], { cwd: root });
  const build = await rolldown({
    cwd: root,
    input: { page: 'test/browser/fixtures/page.ts', client: 'fullmcp/client' },
    platform: 'browser',
    // The repository's own paths resolve to the sources, which a user does not have.
    tsconfig: false,
    // A browser has no node: modules, so the bundle must not import one.
    onLog(level, log, handle) {
      if (level === 'warn') throw new Error(log.message);
      handle(level, log);
    },
  });
  try {
    const { output } = await build.generate({
      format: 'esm',
      minify: true,
      entryFileNames: '[name].js',
      chunkFileNames: 'chunks/[name]-[hash].js',
    });
    const chunks = output.filter((file) => file.type === 'chunk');
    const modules = chunks.flatMap(({ moduleIds }) => moduleIds).map((id) => basename(id));
    if (!modules.includes('client-web.js') || modules.includes('client.js')) {
      throw new Error('fullmcp/client is not what its exports give to a browser');
    }
    return chunks;
  } finally {
    await build.close();
  }
}
