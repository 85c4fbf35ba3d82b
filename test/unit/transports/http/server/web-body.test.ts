import { describe, expect, test, vi } from 'vitest';
import { BodyTooLarge } from '../../../../../src/transports/http/server/incoming.js';
import { webIncoming } from '../../../../../src/transports/http/server/web.js';

/** Reads the body of a request as the endpoint does. */
function read(request: Request, maxBytes = 100): Promise<string> {
  return new Promise((resolve, reject) => {
    const { incoming } = webIncoming(request);
    incoming.read({ maxBytes, timeoutMs: 0 } as never, { receiveBody: resolve, fail: reject } as never);
  });
}

function post(body: BodyInit, headers: Record<string, string> = {}): Request {
  return new Request('http://localhost/mcp', {
    method: 'POST',
    body,
    headers,
    duplex: 'half',
  } as RequestInit);
}

function parts(...texts: readonly string[]): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream({
    start(controller) {
      for (const text of texts) controller.enqueue(encoder.encode(text));
      controller.close();
    },
  });
}

describe('the body of a web Request', () => {
  test.each([
    ['that declares its length is read as a whole', { 'content-length': '4' }, true],
    ['that declares nothing is read in parts', {}, false],
    ['that is encoded is read in parts', { 'content-length': '4', 'content-encoding': 'gzip' }, false],
    [
      'that comes in chunks is read in parts',
      { 'content-length': '4', 'transfer-encoding': 'chunked' },
      false,
    ],
  ])('%s', async (_, headers, isWhole) => {
    const request = post(parts('{"a"', ':"ä€😀"}'));
    Object.defineProperty(request, 'headers', { value: new Headers(headers) });
    const whole = vi.spyOn(request, 'text');
    expect(await read(request)).toBe('{"a":"ä€😀"}');
    expect(whole.mock.calls.length === 1).toBe(isWhole);
  });

  test.each([{}, { 'content-length': '4' }])(
    'that is larger than the limit is refused (%j)',
    async (headers) => {
      await expect(read(post(parts('x'.repeat(60), 'x'.repeat(60)), headers))).rejects.toBeInstanceOf(
        BodyTooLarge,
      );
      // 40 characters of three bytes each.
      await expect(read(post(parts('€'.repeat(40)), headers))).rejects.toBeInstanceOf(BodyTooLarge);
      expect(await read(post(parts('€'.repeat(33)), headers))).toHaveLength(33);
    },
  );

  test('that declares more than the limit is refused unread', async () => {
    const request = post('{}', { 'content-length': '101' });
    await expect(read(request)).rejects.toBeInstanceOf(BodyTooLarge);
    expect(request.bodyUsed).toBe(false);
  });

  test.each([{}, { 'content-length': '4' }])(
    'that breaks off fails with the reason (%j)',
    async (headers) => {
      const broken = new ReadableStream({
        start: (controller) => controller.error(new Error('The client is gone')),
      });
      await expect(read(post(broken, headers))).rejects.toThrow('The client is gone');
    },
  );
});
