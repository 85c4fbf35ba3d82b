// The files of the page, as they are in the package. A request only chooses among them: its path never reaches the disk.

import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { brotliDecompressSync } from 'node:zlib';

/** The folder, seen from an entry of the package, from a part of it, and from this file in the repository. */
const FOLDERS = ['./inspector/', '../inspector/', '../../../dist/inspector/'];

const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  json: 'application/json; charset=utf-8',
  svg: 'image/svg+xml',
  png: 'image/png',
  webp: 'image/webp',
  woff2: 'font/woff2',
};

interface Asset {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

export interface Assets {
  /** The hash of the styles in the page itself. */
  readonly styleHash: string;
  /** The file with this name, in the best form that the browser takes; undefined if the page has no such file. */
  readonly find: (name: string, acceptEncoding: string | undefined) => Asset | undefined;
}

/** Reads which files there are. Each is read when it is first asked for. */
export function loadAssets(): Assets {
  const folder = FOLDERS.map((path) => new URL(path, import.meta.url)).find((url) =>
    existsSync(new URL('page.json', url)),
  );
  if (folder === undefined)
    throw new Error('The page of the inspector is not built. Run `npm run build`, or install fullmcp again.');
  const { styleHash, files } = JSON.parse(readFileSync(new URL('page.json', folder), 'utf8')) as {
    styleHash: string;
    files: readonly string[];
  };
  const known = new Set(files);
  const read = reader(folder);
  return {
    styleHash,
    find(name, acceptEncoding = '') {
      if (!known.has(name)) return undefined;
      const isCompressed = takesBrotli(acceptEncoding);
      return {
        headers: {
          'content-type': TYPES[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream',
          vary: 'accept-encoding',
          ...(isCompressed && { 'content-encoding': 'br' }),
        },
        body: isCompressed ? read(name) : brotliDecompressSync(read(name)),
      };
    },
  };
}

/** Some browsers take it over https only. On one computer, the size does not matter. */
function takesBrotli(accepted: string): boolean {
  return accepted
    .split(',')
    .filter((part) => !/;\s*q=0(?:\.0*)?\s*$/.test(part))
    .some((part) => part.split(';', 1)[0]?.trim().toLowerCase() === 'br');
}

/** Reads files once. All of them together are smaller than 400 kB. */
function reader(folder: URL): (name: string) => Buffer {
  const kept = new Map<string, Buffer>();
  return (name) => {
    const content = kept.get(name) ?? readFileSync(fileURLToPath(new URL(`${name}.br`, folder)));
    kept.set(name, content);
    return content;
  };
}
