import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectMath } from '../support/examples/wire.js';
import { freePort } from '../support/free-port.js';
import { at, type Running, secret, start } from './program.js';

// The programs of docs/deploy.md in the runtimes that they are written for, each from the package as it is built.

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fullmcp-runtimes-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('workerd, the runtime of Cloudflare Workers', () => {
  test.each([
    ['the Worker of the documentation', 'build/examples/deploy/cloudflare/worker.js'],
    ['a server that is the default export', 'build/examples/basic-server/server.js'],
  ])('serves both eras with %s', async (_, module) => {
    await bundle(module);
    await using worker = await serveInWorkerd();
    await expectMath(`${worker.url}/mcp`);
  });
});

describe('Deno, with no more permissions than the documentation gives', () => {
  test('serves both eras', async () => {
    await using deno = await serveInDeno();
    await expectMath(`${deno.url}/mcp`);
  });

  test('exits after SIGTERM', async () => {
    await using deno = await serveInDeno();
    deno.child.kill('SIGTERM');
    expect(await deno.exited).toEqual([0, null]);
  });
});

test('Bun serves both eras with the program of the README, and exits after SIGTERM', async () => {
  const port = await freePort();
  await using bun = await start(
    at('test/runtimes/node_modules/bun/bin/bun.exe'),
    [at('build/examples/basic-server/http.js')],
    { port, env: { PORT: String(port), MCP_SECRET: secret } },
  );
  await expectMath(`${bun.url}/mcp`);
  bun.child.kill('SIGTERM');
  expect(await bun.exited).toEqual([0, null]);
});

/** Bundles a module into one file, as a deployment does it. */
async function bundle(module: string): Promise<void> {
  const bundle = await rolldown({
    input: at(module),
    platform: 'browser',
    resolve: {
      alias: { 'fullmcp/http': at('dist/http.js'), fullmcp: at('dist/index.js') },
      conditionNames: ['workerd', 'worker', 'browser'],
    },
  });
  await bundle.write({ file: join(folder, 'worker.js'), format: 'es', codeSplitting: false });
}

async function serveInWorkerd(): Promise<Running> {
  const port = await freePort();
  const config = join(folder, 'config.capnp');
  await writeFile(
    config,
    `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = .worker)],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")]
);
const worker :Workerd.Worker = (
  modules = [(name = "worker.js", esModule = embed "worker.js")],
  bindings = [(name = "MCP_SECRET", fromEnvironment = "MCP_SECRET")],
  compatibilityDate = "2026-07-28"
);
`,
  );
  const program = at('test/runtimes/node_modules/workerd/bin/workerd');
  return start(program, ['serve', config], { port, env: { MCP_SECRET: secret } });
}

async function serveInDeno(): Promise<Running> {
  const port = await freePort();
  const config = join(folder, 'deno.json');
  const entry = (name: string): string => pathToFileURL(at(`dist/${name}.js`)).href;
  await writeFile(
    config,
    JSON.stringify({
      imports: { fullmcp: entry('index'), 'fullmcp/http': entry('http') },
      nodeModulesDir: 'manual',
    }),
  );
  return start(
    at('test/runtimes/node_modules/deno/deno'),
    [
      ...['run', '--no-prompt', '--cached-only', '--config', config],
      `--allow-net=0.0.0.0:${port}`,
      '--allow-env=MCP_PUBLIC_URL,MCP_SECRET',
      at('build/examples/deploy/deno/main.js'),
    ],
    { port, env: { DENO_SERVE_ADDRESS: `tcp:0.0.0.0:${port}`, MCP_SECRET: secret } },
  );
}
