import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Schema, Validator } from '@cfworker/json-schema';
import { afterAll, describe, expect, test } from 'vitest';
import { readServerConfig } from '../../../../../src/adapters/node/config/config-file.js';
import { outerOptions, withOuter } from '../../../../../src/adapters/node/config/outer-options.js';

const folder = mkdtempSync(join(tmpdir(), 'fullmcp-config-'));
afterAll(() => rmSync(folder, { recursive: true }));

const SECRET = 'a secret that has more than 32 characters';
const variable = (name: string): string => `\${${name}}`;
let files = 0;

function fileWith(content: unknown, mode = 0o600): string {
  const path = join(folder, `${files++}.json`);
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content), { mode });
  chmodSync(path, mode);
  return path;
}

const schema = JSON.parse(
  readFileSync(new URL('../../../../../dist/config.schema.json', import.meta.url), 'utf8'),
) as Schema;

function fitsSchema(value: unknown): boolean {
  return new Validator(schema, '2020-12').validate(value).valid;
}

describe('the published schema and the loader agree', () => {
  test.each([
    {},
    { $schema: './node_modules/fullmcp/dist/config.schema.json' },
    { port: 0, host: '::', path: '/api', sessions: false, signals: true, exit: false },
    { publicUrl: 'https://a.example/mcp', allowedHosts: ['a.example'], allowedOrigins: [] },
    { trustProxy: 1 },
    { trustProxy: false },
    { trustProxy: ['10.0.0.0/8'] },
    { trustProxy: { proxies: 1, header: 'forwarded' } },
    { workers: 'auto', logLevel: 'emergency', logFormat: 'json' },
    { workers: 2, secret: [SECRET, SECRET] },
    { tls: { cert: 'a.pem', key: ['b.pem'], minVersion: 'TLSv1.3', reloadMs: 0 } },
    { websocket: false },
    {
      websocket: { pingMs: 1, maxOpenCalls: 5 },
      drainMs: 1,
      maxSessions: 3,
      clusterUrl: 'redis://localhost',
    },
  ])('that %j is right', (config) => {
    expect(fitsSchema(config)).toBe(true);
    expect(readServerConfig(fileWith(config), {}).options).toEqual(
      Object.fromEntries(Object.entries(config).filter(([name]) => name !== '$schema')),
    );
  });

  test.each([
    [[], 'expected an object'],
    [null, 'expected an object'],
    [{ prot: 1 }, 'prot: unknown field, did you mean "port"?'],
    [{ port: '3000' }, 'port: expected an integer, got the string "3000"'],
    [{ port: 65_536 }, 'port'],
    [{ port: -1 }, 'port'],
    [{ port: 1.5 }, 'port'],
    [{ port: null }, 'port'],
    [{ logLevel: 'warn' }, 'logLevel: expected one of "debug", "info"'],
    [{ logFormat: 'xml' }, 'logFormat'],
    [{ workers: 0 }, 'workers'],
    [{ workers: 'many' }, 'workers'],
    [{ allowedHosts: 'a.example' }, 'allowedHosts'],
    [{ websocket: { pingMS: 1 } }, 'websocket.pingMS: unknown field, did you mean "pingMs"?'],
    [{ websocket: true }, 'websocket'],
    [{ tls: { certificate: 'a.pem' } }, 'tls.certificate: unknown field'],
    [{ path: 'mcp' }, 'path'],
    [{ publicUrl: 'example.com' }, 'publicUrl'],
    [{ auth: 'token' }, 'auth: unknown field'],
    [JSON.parse('{ "__proto__": { "port": 1 } }'), '__proto__: unknown field'],
    [{ constructor: 1 }, 'constructor: unknown field'],
  ])('that %j is wrong', (config, problem) => {
    const path = fileWith(config);
    expect(fitsSchema(config)).toBe(false);
    expect(() => readServerConfig(path, {})).toThrow(`The config file ${path} is wrong.`);
    expect(() => readServerConfig(path, {})).toThrow(problem);
  });
});

describe('a config file', () => {
  test('may begin with a byte order mark and have the line ends of Windows', () => {
    expect(readServerConfig(fileWith('\uFEFF{\r\n"port": 0\r\n}\r\n'), {}).options).toEqual({ port: 0 });
  });

  test.each([
    ['{\n  "port": 1,\n  "port": 2\n}', 'Line 3, column 3: the name "port" appears twice.'],
    ['{ "port": 1, "p\\u006frt": 2 }', 'the name "port" appears twice.'],
    ['{ "tls": { "cert": "a", "cert": "b" } }', 'the name "cert" appears twice.'],
    ['{\n  "port": 1\n  "host": 2\n}', 'It is not JSON: line 3, column 3: a comma or } is missing.'],
    ['{ // the port\n}', 'comments are not supported.'],
    ['', 'It is not JSON: line 1, column 1'],
  ])('that says %j is refused with the place', (text, problem) => {
    expect(() => readServerConfig(fileWith(text), {})).toThrow(problem);
  });

  test('may use one name in two objects', () => {
    const config = { maxAgeMs: 1, websocket: { maxAgeMs: 2 } };
    expect(readServerConfig(fileWith(config), {}).options).toEqual(config);
  });

  test('takes values from the environment', () => {
    const path = fileWith({
      host: variable('HOST_NAME'),
      secret: variable('KEY'),
      allowedHosts: ['a', variable('B:-b')],
    });
    expect(readServerConfig(path, { HOST_NAME: 'x', KEY: `${SECRET},old` }).options).toEqual({
      host: 'x',
      secret: [SECRET, 'old'],
      allowedHosts: ['a', 'b'],
    });
    expect(() => readServerConfig(path, { KEY: SECRET })).toThrow(
      '"host" needs the environment variable HOST_NAME, which is not set',
    );
  });

  test('is checked again with the values of the environment', () => {
    const path = fileWith({ path: variable('PLACE'), publicUrl: variable('URL') });
    expect(() => readServerConfig(path, { PLACE: 'x', URL: 'y' })).toThrow(
      /"path" must be.*"publicUrl" must/,
    );
  });

  test('never shows a secret in an error', () => {
    for (const config of [{ secret: 1234567 }, { tls: { passphrase: 1234567 } }, { clusterUrl: 1234567 }])
      expect(() => readServerConfig(fileWith(config), {})).toThrow(/^((?!1234567).)*$/s);
  });

  test.skipIf(process.platform === 'win32')('must be a small file', () => {
    const pipe = join(folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
    mkdirSync(join(folder, 'inner'));
    const large = fileWith('{}');
    truncateSync(large, 50_000_000);
    expect(() => readServerConfig(pipe, {})).toThrow(`The config file ${pipe} is a pipe, not a file.`);
    expect(() => readServerConfig(join(folder, 'inner'), {})).toThrow('is a directory, not a file.');
    expect(() => readServerConfig('/dev/zero', {})).toThrow('is a device, not a file.');
    expect(() => readServerConfig(large, {})).toThrow('has 50000000 bytes; at most 1048576 are read.');
    expect(() => readServerConfig(join(folder, 'none'), {})).toThrow('cannot be read (ENOENT).');
  });

  test.skipIf(process.platform === 'win32')('with a secret that every user may read is reported', () => {
    const warned = (config: object, mode: number): number =>
      readServerConfig(fileWith(config, mode), { KEY: SECRET }).warnings.length;
    expect(warned({ secret: SECRET }, 0o644)).toBe(1);
    expect(warned({ secret: [SECRET] }, 0o644)).toBe(1);
    expect(warned({ clusterUrl: 'redis://:pass@localhost' }, 0o644)).toBe(1);
    expect(warned({ secret: SECRET }, 0o640)).toBe(0);
    expect(
      warned({ secret: variable('KEY'), clusterUrl: 'redis://localhost', tls: { key: 'a.pem' } }, 0o644),
    ).toBe(0);
  });
});

describe('the secret', () => {
  test('may be in a file, with a line end, and several on lines of their own', async () => {
    const secretFile = fileWith(`${SECRET}\nold secret\r\n`);
    const secrets = [SECRET, 'old secret'];
    expect(readServerConfig(fileWith({ secretFile }), {}).options).toEqual({ secret: secrets });
    expect((await outerOptions({}, { MCP_SECRET_FILE: secretFile })).options).toEqual({ secret: secrets });
    expect(withOuter({ secretFile }, { options: {} }).secret).toEqual(secrets);
  });

  test('cannot be set twice in one place', async () => {
    const secretFile = fileWith(SECRET);
    expect(() => readServerConfig(fileWith({ secret: SECRET, secretFile }), {})).toThrow('are both set.');
    await expect(outerOptions({}, { MCP_SECRET: SECRET, MCP_SECRET_FILE: secretFile })).rejects.toThrow(
      'MCP_SECRET and MCP_SECRET_FILE are both set. Remove one of them.',
    );
    await expect(outerOptions({}, { MCP_SECRET_FILE: fileWith('\n') })).rejects.toThrow('is empty.');
  });

  test('of the program hides both forms in the environment', async () => {
    const outer = await outerOptions({ secret: SECRET }, { MCP_SECRET_FILE: '/does/not/exist' });
    expect(withOuter({ secret: SECRET }, outer).secret).toBe(SECRET);
  });
});

test('an option in the code comes before the environment, and that before the file', async () => {
  const config = fileWith({ port: 1, host: 'file', maxDepth: 5, secret: SECRET });
  const env = { MCP_CONFIG: config, PORT: '2', MCP_HOST: 'environment', MCP_SECRET: 'from the environment' };
  const given = { port: 3, publicUrl: undefined };
  expect(withOuter(given, await outerOptions(given, env))).toEqual({
    port: 3,
    host: 'environment',
    maxDepth: 5,
    secret: ['from the environment'],
  });
});

test('the example fits the schema', () => {
  const path = new URL('../../../../../examples/config/fullmcp.json', import.meta.url);
  expect(fitsSchema(JSON.parse(readFileSync(path, 'utf8')))).toBe(true);
  expect(readServerConfig(path.pathname, { MCP_SECRET: SECRET }).options).toMatchObject({ port: 8080 });
});
