import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { sandboxPage } from 'fullmcp/apps';
import { rolldown } from 'rolldown';

// The website of a host: an empty page with a script, bundled from the package as it is shipped.

export interface HostSite extends AsyncDisposable {
  /** The address of a sandbox, at another origin. */
  readonly sandbox: string;
  /** The address of the page with a script: `host` or `official`. A strict page allows nothing but the sandbox. */
  readonly page: (script: string, options?: { readonly strict?: boolean; readonly host?: string }) => string;
}

const fixtures: Readonly<Record<string, string>> = {
  host: 'test/browser/apps/fixtures/host.ts',
  // The official packages belong to the tests with other implementations.
  official: 'test/interop/fixtures/apps-host.mjs',
};
const root = fileURLToPath(new URL('../../..', import.meta.url));

export async function openHostSite(...scripts: readonly string[]): Promise<HostSite> {
  await promisify(execFile)(process.execPath, ['scripts/build.js'], { cwd: root });
  const files = new Map<string, string>();
  for (const script of scripts) files.set(`/${script}.js`, await bundle(script));
  const http = createServer((req, res) => {
    const { pathname, search } = new URL(req.url ?? '/', 'http://localhost');
    if (pathname === '/sandbox') {
      const hosts = [`http://127.0.0.1:${port}`];
      const { html, headers } = sandboxPage({ hosts, requestUrl: req.url ?? '/' });
      return void res.writeHead(200, headers).end(html);
    }
    const script = files.get(`${pathname}.js`);
    const code = files.get(pathname);
    if (code !== undefined) return void res.writeHead(200, { 'content-type': 'text/javascript' }).end(code);
    if (script === undefined) return void res.writeHead(404).end();
    res.writeHead(200, {
      'content-type': 'text/html',
      ...(search === '?strict' && { 'content-security-policy': strictPolicy(port) }),
    });
    res.end(
      `<!doctype html><link rel="icon" href="data:,"><main></main><script type="module" src="${pathname}.js"></script>`,
    );
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const { port } = http.address() as AddressInfo;
  return {
    page: (script, { strict = false, host = '127.0.0.1' } = {}) =>
      `http://${host}:${port}/${script}${strict ? '?strict' : ''}`,
    sandbox: `http://localhost:${port}/sandbox`,
    async [Symbol.asyncDispose]() {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}

/** The strictest policy of a page that shows apps in a sandbox. */
function strictPolicy(port: number): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    'connect-src http://localhost:*',
    `frame-src http://localhost:${port}`,
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ');
}

async function bundle(script: string): Promise<string> {
  const build = await rolldown({
    cwd: root,
    input: fixtures[script] as string,
    platform: 'browser',
    // The repository's own paths resolve to the sources, which a user does not have.
    tsconfig: false,
  });
  try {
    const { output } = await build.generate({ format: 'esm', codeSplitting: false });
    return output[0].code;
  } finally {
    await build.close();
  }
}
