import { describe, expect, test } from 'vitest';
import { proxyFor } from '../../../../../src/adapters/node/client/proxy.js';

// The choice of a proxy for an address. Its use is tested in carrier.test.ts.

function proxyOf(url: string, environment: Record<string, string>): string | undefined {
  return proxyFor(new URL(url), undefined, environment)?.url.origin;
}

const PROXY = 'http://proxy.test:3128';

describe('the proxy of the environment', () => {
  test.each([
    ['https://mcp.test/', { HTTPS_PROXY: PROXY }, PROXY],
    ['https://mcp.test/', { https_proxy: PROXY, HTTPS_PROXY: 'http://other.test' }, PROXY],
    ['https://mcp.test/', { https_proxy: '', HTTPS_PROXY: PROXY }, undefined],
    ['https://mcp.test/', { HTTP_PROXY: PROXY }, undefined],
    ['http://mcp.test/', { HTTPS_PROXY: PROXY }, undefined],
    ['http://mcp.test/', { HTTP_PROXY: PROXY }, PROXY],
    ['wss://mcp.test/', { HTTPS_PROXY: PROXY }, PROXY],
    ['http://mcp.test/', { HTTP_PROXY: 'proxy.test:3128' }, PROXY],
    ['http://mcp.test/', { HTTP_PROXY: 'http://user:pass@proxy.test:3128/path' }, PROXY],
    // In a CGI program this variable is a header of the request.
    ['http://mcp.test/', { HTTP_PROXY: PROXY, REQUEST_METHOD: 'GET' }, undefined],
    ['http://mcp.test/', { http_proxy: PROXY, REQUEST_METHOD: 'GET' }, PROXY],
    // Loopback addresses are never reached through a proxy.
    ['http://localhost:3000/', { HTTP_PROXY: PROXY }, undefined],
    ['http://app.localhost/', { HTTP_PROXY: PROXY }, undefined],
    ['http://127.0.0.1/', { HTTP_PROXY: PROXY }, undefined],
    ['http://127.8.8.8/', { HTTP_PROXY: PROXY }, undefined],
    ['http://[::1]/', { HTTP_PROXY: PROXY }, undefined],
    ['http://127.0.0.1.evil.test/', { HTTP_PROXY: PROXY }, PROXY],
  ])(
    'is chosen by scheme and never for loopback: %s with %j goes through %s',
    (url, environment, expected) => {
      expect(proxyOf(url, environment as Record<string, string>)).toBe(expected);
    },
  );
});

describe('NO_PROXY', () => {
  test.each([
    ['mcp.test', 'http://mcp.test/', true],
    ['mcp.test', 'http://a.b.mcp.test/', true],
    ['mcp.test', 'http://notmcp.test/', false],
    ['MCP.Test', 'http://mcp.test/', true],
    ['mcp.test.', 'http://mcp.test/', true],
    ['.mcp.test', 'http://mcp.test/', true],
    ['*.mcp.test', 'http://a.mcp.test/', true],
    ['*', 'http://mcp.test/', true],
    ['a.test, mcp.test', 'http://mcp.test/', true],
    ['a.test mcp.test', 'http://mcp.test/', true],
    ['mcp.test:80', 'http://mcp.test/', true],
    ['mcp.test:81', 'http://mcp.test/', false],
    ['10.0.0.1', 'http://10.0.0.1/', true],
    ['0.0.1', 'http://10.0.0.1/', false],
    ['10.0.0.0/8', 'http://10.9.8.7/', true],
    ['10.0.0.0/8', 'http://11.9.8.7/', false],
    ['10.0.0.0/99', 'http://10.9.8.7/', false],
    ['fd00::/8', 'http://[fd12::1]/', true],
    ['fd12::1', 'http://[fd12::1]/', true],
    ['[fd12::1]:80', 'http://[fd12::1]/', true],
    ['[fd12::1]:81', 'http://[fd12::1]/', false],
    ['', 'http://mcp.test/', false],
    [',, ', 'http://mcp.test/', false],
    ['/', 'http://mcp.test/', false],
    [':', 'http://mcp.test/', false],
  ])('%j exempts %s: %s', (exceptions, url, isExempt) => {
    expect(proxyOf(url, { HTTP_PROXY: PROXY, NO_PROXY: exceptions }) === undefined).toBe(isExempt);
  });

  test('is read in reasonable time even if the list is long', () => {
    const long = `${'.'.repeat(50_000)}${' '.repeat(50_000)}${'[:'.repeat(50_000)}`;
    expect(proxyOf('http://mcp.test/', { HTTP_PROXY: PROXY, NO_PROXY: long })).toBe(PROXY);
  });
});

describe('the option `proxy`', () => {
  test('overrides the environment, and also applies to loopback', () => {
    const environment = { HTTP_PROXY: 'http://other.test', NO_PROXY: '*' };
    expect(proxyFor(new URL('http://localhost/'), PROXY, environment)?.url.origin).toBe(PROXY);
    expect(proxyFor(new URL('http://mcp.test/'), false, { HTTP_PROXY: PROXY })).toBeUndefined();
  });

  test.each([
    [
      'socks5://user:secret@proxy.test',
      'uses socks5, which is not supported: use an http:// or https:// proxy',
    ],
    ['http://user:secret@proxy.test:port', 'is not a valid URL'],
  ])('rejects %s with an error that shows no password', (proxy, why) => {
    const choose = (): unknown => proxyFor(new URL('http://mcp.test/'), proxy, {});
    expect(choose).toThrow(why);
    expect(choose).not.toThrow(/secret/);
  });
});
