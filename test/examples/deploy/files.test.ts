import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createServer } from 'fullmcp';
import { type Serving, serve } from 'fullmcp/node';
import { describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';

// The files of docs/deploy.md agree with the server and with each other.

const root = fileURLToPath(new URL('../../../', import.meta.url));
const folder = `${root}examples/deploy/`;
const files = readdirSync(folder, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => `${entry.parentPath}/${entry.name}`);
/** drainMs, and the time that the process may take after it. */
const CLOSE_SECONDS = 5 + 3;

test('every variable in the files is one that the library reads', () => {
  const sources = readdirSync(`${root}src`, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .map((path) => readFileSync(`${root}src/${path}`, 'utf8'));
  const known = new Set(sources.flatMap(variablesIn));
  const used = new Set(files.flatMap((file) => variablesIn(readFileSync(file, 'utf8'))));
  expect(used.size).toBeGreaterThan(3);
  expect([...used].filter((name) => !known.has(name))).toEqual([]);
});

test('every probe is on a path that replies with 200', async () => {
  await using serving = await serveAnything();
  const paths = new Set(files.flatMap((file) => probesIn(readFileSync(file, 'utf8'))));
  expect([...paths].sort()).toEqual(['/health', '/ready']);
  for (const path of paths) expect((await fetch(`http://127.0.0.1:${serving.port}${path}`)).status).toBe(200);
});

test.each([
  ['systemd/mcp.service', /^TimeoutStopSec=(\d+)$/m],
  ['docker/compose.yaml', /^ +stop_grace_period: (\d+)s$/m],
  ['kubernetes/mcp.yaml', /^ +terminationGracePeriodSeconds: (\d+)$/m],
  ['fly/fly.toml', /^kill_timeout = (\d+)/m],
  ['render/render.yaml', /^ +maxShutdownDelaySeconds: (\d+)/m],
])('%s leaves the process more time to end than it needs', (path, pattern) => {
  const text = read(path);
  const delayMs = Number(/MCP_SHUTDOWN_DELAY_MS, value: "(\d+)"/.exec(text)?.[1] ?? 0);
  expect(Number(pattern.exec(text)?.[1])).toBeGreaterThan(CLOSE_SECONDS + delayMs / 1000);
});

describe('the Dockerfile', () => {
  const dockerfile = read('docker/Dockerfile');
  const [program, ...args] = JSON.parse(/HEALTHCHECK .*? CMD (.*)/.exec(dockerfile)?.[1] ?? '[]') as string[];

  test('has a health check that tells a server from none', async () => {
    expect(program).toBe('/nodejs/bin/node');
    await using serving = await serveAnything();
    expect(await health(serving.port)).toBe(0);
    await serving.close();
    expect(await health(serving.port)).toBe(1);
  });

  test('runs as a user with a number that is not 0', () => {
    expect(Number(/^USER (\d+):\d+$/m.exec(dockerfile)?.[1])).toBeGreaterThan(0);
  });

  function health(port: number): Promise<number | null> {
    const child = spawn(process.execPath, args, { env: { PORT: String(port) } });
    return new Promise((resolve) => child.on('exit', resolve));
  }
});

describe('the files in YAML', () => {
  test.each(files.filter((file) => file.endsWith('.yaml')))('%s can be parsed', (file) => {
    for (const document of parseAllDocuments(readFileSync(file, 'utf8')))
      expect([...document.errors, ...document.warnings]).toEqual([]);
  });

  test('the pod of Kubernetes has no rights, cannot write, and listens where the image does', () => {
    const [deployment] = parseAllDocuments(read('kubernetes/mcp.yaml')).map((document) => document.toJS());
    const pod = deployment.spec.template.spec;
    expect(pod).toMatchObject({
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
    });
    expect(pod.containers[0].securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    const port = Number(/PORT=(\d+)/.exec(read('docker/Dockerfile'))?.[1]);
    expect(pod.containers[0].ports[0].containerPort).toBe(port);
    expect(read('fly/fly.toml')).toContain(`internal_port = ${port}\n`);
  });
});

const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0;
test.skipIf(!hasSystemd)('systemd accepts the unit, and rates its exposure below 2 of 10', () => {
  const unit = `${folder}systemd/mcp.service`;
  const report = execFileSync('systemd-analyze', ['security', '--offline=yes', '--threshold=20', unit], {
    encoding: 'utf8',
  });
  expect(report).toMatch(/Overall exposure level for mcp.service: 1\.\d OK/);
});

function serveAnything(): Promise<Serving> {
  return serve(createServer({ name: 'anything', version: '1.0.0' }), { port: 0 });
}

function variablesIn(text: string): string[] {
  return text.match(/\bMCP_[A-Z_]+[A-Z]\b/g) ?? [];
}

function probesIn(text: string): string[] {
  return [...text.matchAll(/(?:path: |path = "|healthCheckPath: )(\/[a-z]+)/g)].map(([, path]) => path ?? '');
}

function read(path: string): string {
  return readFileSync(folder + path, 'utf8');
}
