import { unsafeAnyHost } from 'fullmcp/http';
import type { ServeOptions } from 'fullmcp/node';
import { describe, expect, test } from 'vitest';
import { environmentOptions } from '../../../../../src/adapters/node/config/environment.js';
import { withOwnHost } from '../../../../../src/adapters/node/server/options.js';

function withEnvironment(options: ServeOptions, env: Record<string, string>): ServeOptions {
  return { ...environmentOptions(env, options), ...definedOnly(options) };
}

function definedOnly(options: ServeOptions): ServeOptions {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}

describe('an option in the environment', () => {
  test('applies if the program does not set it', () => {
    const env = {
      PORT: '8080',
      MCP_HOST: '0.0.0.0',
      MCP_PATH: '/api/mcp',
      MCP_PUBLIC_URL: 'https://api.example.com/mcp',
      MCP_SECRET: 's',
      MCP_ALLOWED_HOSTS: 'a.example, b.example,',
      MCP_ALLOWED_ORIGINS: 'https://app.example.com',
      MCP_MAX_CONNECTIONS: '7',
      MCP_MAX_BODY_BYTES: '1000',
      MCP_REQUEST_TIMEOUT_MS: '2000',
    };
    expect(withEnvironment({ port: 1 }, env)).toEqual({
      port: 1,
      host: '0.0.0.0',
      path: '/api/mcp',
      publicUrl: 'https://api.example.com/mcp',
      secret: 's',
      allowedHosts: ['a.example', 'b.example'],
      allowedOrigins: ['https://app.example.com'],
      maxConnections: 7,
      maxBodyBytes: 1000,
      requestTimeoutMs: 2000,
    });
  });

  test("is ignored if it is empty, and applies if the program's option is undefined", () => {
    expect(
      withEnvironment({ publicUrl: undefined }, { PORT: '', MCP_PUBLIC_URL: 'https://a.example' }),
    ).toEqual({
      publicUrl: 'https://a.example',
    });
  });

  test('is not read if the option is set, however wrong it is', () => {
    expect(withEnvironment({ port: 3000 }, { PORT: 'http' })).toEqual({ port: 3000 });
  });

  test('that must be a whole number leads to an error that shows its value', () => {
    expect(() => withEnvironment({}, { PORT: 'http' })).toThrow(
      'The environment variable PORT must be a whole number, 0 or more, but it is "http".',
    );
  });

  test.each([
    [{ PORT: '99999' }, 'The environment variable PORT must be a port from 0 to 65535, but it is 99999.'],
    [
      { MCP_PATH: 'mcp' },
      'The environment variable MCP_PATH must be a path that begins with "/", such as "/mcp", but it is "mcp".',
    ],
    [{ MCP_PATH: '/mcp?x=1' }, 'but it is "/mcp?x=1".'],
    [
      { MCP_PUBLIC_URL: 'example.com' },
      'The environment variable MCP_PUBLIC_URL must be a URL such as "https://mcp.example.com/mcp", but it is "example.com".',
    ],
    [{ MCP_PUBLIC_URL: 'localhost:3000' }, 'but it is "localhost:3000".'],
  ])('that is %o leads to an error that names the variable', (env, sentence) => {
    expect(() => withEnvironment({}, env)).toThrow(sentence);
  });
});

describe('the list of allowed hosts', () => {
  test.each<[string, ServeOptions, unknown]>([
    ['a name is allowed', { host: 'box.lan' }, ['box.lan']],
    [
      'a name is added to the configured ones',
      { host: 'box.lan', allowedHosts: ['api.example.com'] },
      ['api.example.com', 'box.lan'],
    ],
    ['an address adds nothing', { host: '0.0.0.0' }, undefined],
    ['an IPv6 address adds nothing', { host: '::' }, undefined],
    [
      'a name adds nothing if any host is allowed',
      { host: 'box.lan', allowedHosts: unsafeAnyHost },
      unsafeAnyHost,
    ],
  ])('follows from the host that the server listens on: %s', (_, options, expected) => {
    expect(withOwnHost(options).allowedHosts).toEqual(expected);
  });
});
