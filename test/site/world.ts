import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder with the built site. */
export const folder = fileURLToPath(new URL('../../build/site', import.meta.url));

export interface ServedSite extends AsyncDisposable {
  /** The address of the home, below a path that the build does not know. */
  readonly url: string;
  /** The requests for what is not there. */
  readonly missed: readonly string[];
}

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.md': 'text/markdown; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.webp': 'image/webp',
  '.woff2': 'font/woff2',
};

/** Serves the files below /a/b/, as any server of static files does. */
export async function serveSite(): Promise<ServedSite> {
  const missed: string[] = [];
  const http = createServer(async (req, res) => {
    const { pathname } = new URL(req.url ?? '/', 'http://localhost');
    const path = pathname.startsWith('/a/b/') ? pathname.slice('/a/b/'.length) : '..';
    const file = path === '' || path.endsWith('/') ? `${path}index.html` : path;
    const body = file.includes('..') ? undefined : await readFile(join(folder, file)).catch(() => undefined);
    if (body === undefined) {
      missed.push(pathname);
      return void res.writeHead(404).end();
    }
    res.writeHead(200, { 'content-type': types[extname(file)] ?? 'application/octet-stream' }).end(body);
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/a/b/`,
    missed,
    async [Symbol.asyncDispose]() {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}
