import { describe, expect, test } from 'vitest';
import { createGuard, type GuardOptions } from '../../../../../src/transports/http/server/guard.js';
import type { Incoming } from '../../../../../src/transports/http/server/incoming.js';

interface RequestParts {
  readonly host: string;
  readonly origin?: string;
  readonly local?: boolean;
  readonly secure?: boolean;
}

function incoming({ host, origin, local = false, secure = false }: RequestParts): Incoming {
  const headers: Record<string, string | undefined> = { host, origin };
  return { header: (name: string) => headers[name], local, secure } as Incoming;
}

const refusals = (options: GuardOptions, ...requests: RequestParts[]): boolean[] => {
  const guard = createGuard(options);
  return requests.map((request) => guard.refuse(incoming(request)) !== undefined);
};

describe('the host that was allowed last', () => {
  test('is checked again for a connection on another interface', () => {
    const host = '203.0.113.5:3000';
    expect(refusals({}, { host }, { host, local: true }, { host })).toEqual([false, true, false]);
  });

  test('is checked again for a connection without TLS', () => {
    const host = 'api.example.com';
    expect(refusals({}, { host, secure: true }, { host }, { host, secure: true })).toEqual([
      false,
      true,
      false,
    ]);
  });
});

describe('an empty host', () => {
  test('is rejected, even as the first host', () => {
    expect(refusals({}, { host: '' }, { host: ' ' })).toEqual([true, true]);
  });
});

describe('an allowed origin with a custom scheme', () => {
  const options = { allowedOrigins: ['vscode-webview://abc', 'https://app.example.com/'] };

  test('allows that origin and not the origin "null"', () => {
    const host = 'localhost';
    expect(
      refusals(
        options,
        { host, origin: 'vscode-webview://abc' },
        { host, origin: 'https://app.example.com' },
        { host, origin: 'vscode-webview://other' },
        { host, origin: 'null' },
      ),
    ).toEqual([false, false, true, true]);
  });
});
