import { describe, expect, it } from 'vitest';
import { REDACTED } from '../../../../src/protocol/secrets/text.js';
import { hideInUrl } from '../../../../src/protocol/secrets/url.js';

describe('hideInUrl', () => {
  it.each([
    ['file:///a/b?token=x&page=2', `file:///a/b?token=${REDACTED}&page=2`],
    ['https://ada:pw@host/a@b', `https://ada:${REDACTED}@host/a@b`],
    ['https://ada:p@w@host', `https://ada:${REDACTED}@host`],
    ['https://ada@host:80/a', 'https://ada@host:80/a'],
    ['https://host:80/a@b', 'https://host:80/a@b'],
    ['https://host?q=a:b@c', 'https://host?q=a:b@c'],
    ['app://x#access_token=a?b;c=1', `app://x#access_token=${REDACTED};c=1`],
    ['mailto:ada@example.com', 'mailto:ada@example.com'],
    ['', ''],
  ])('%s', (uri, shown) => {
    expect(hideInUrl(uri)).toBe(shown);
  });

  it('is done soon with a hostile URI', () => {
    const uri = `x://${'?a'.repeat(200_000)}${'&=@:'.repeat(100_000)}`;
    expect(hideInUrl(uri)).toHaveLength(uri.length);
  });
});
