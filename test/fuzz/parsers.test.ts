import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { EventStreamReader, EventTooLarge, printEvent } from '../../src/jsonrpc/event-stream.js';
import { readMessage } from '../../src/jsonrpc/message.js';
import { type Line, LineReader } from '../../src/jsonrpc/ndjson.js';
import { findFault, isDeeperThan } from '../../src/jsonrpc/parse.js';
import { sessionIds } from '../../src/legacy/server/http/session-id.js';
import { decodeBase64, decodeBase64Url, encodeBase64Url } from '../../src/protocol/encoding/base64.js';
import { decodeHeaderValue, encodeHeaderValue } from '../../src/protocol/encoding/param-headers.js';
import { parseTemplate } from '../../src/protocol/uri-template/template.js';
import { createGuard } from '../../src/transports/http/server/guard.js';
import type { Incoming } from '../../src/transports/http/server/incoming.js';
import { accepts } from '../../src/transports/http/server/reply.js';
import { corpus, FUZZ_MS, limits, near, nearJson, printSeed } from './fuzz.js';

afterAll(printSeed);

const messages = corpus('messages');
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

/** Cuts bytes at the given positions. */
function pieces(all: Uint8Array, cuts: readonly number[]): Uint8Array[] {
  const at = [0, ...cuts.map((cut) => cut % (all.length + 1)), all.length].sort((one, two) => one - two);
  return at.slice(1).map((end, index) => all.slice(at[index], end));
}

describe('the message parser', () => {
  test('reads any JSON value or rejects it with a reason, and never throws', { timeout: FUZZ_MS }, () => {
    fc.assert(
      fc.property(fc.oneof(nearJson(messages), fc.jsonValue()), (value) => {
        const message = readMessage(value);
        if (message.kind === 'invalid') expect(message.reason).not.toBe('');
        else if (message.kind === 'request') expect(['string', 'number']).toContain(typeof message.id);
      }),
      limits,
    );
  });

  test('finds excessive depth and infinite numbers exactly where a plain walk does', {
    timeout: FUZZ_MS,
  }, () => {
    const depth = (value: unknown): number =>
      typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depth)) : 0;
    const infinite = (value: unknown): boolean =>
      typeof value === 'number'
        ? !Number.isFinite(value)
        : typeof value === 'object' && value !== null && Object.values(value).some(infinite);
    const digits = fc.string({ unit: fc.constantFrom(...'0123456789'), maxLength: 500 });
    const number = fc
      .tuple(digits, fc.constantFrom('', 'e5', 'e99', 'E+308', 'e309', 'e-400', '.5e200'))
      .map(([head, tail]) => `1${head}${tail}`);
    const text = fc.oneof(
      nearJson(messages).map((value) => JSON.stringify(value)),
      fc
        .tuple(number, number, fc.string())
        .map(([a, b, pad]) => `[${JSON.stringify(pad)},{"a":[${a}]},${b}]`),
    );
    fc.assert(
      fc.property(text, (json) => {
        const value: unknown = JSON.parse(json);
        const deep = depth(value);
        expect(findFault(value, deep)).toBe(infinite(value) ? 'infinite' : undefined);
        expect([isDeeperThan(value, deep), isDeeperThan(value, deep - 1)]).toEqual([false, deep > 0]);
      }),
      limits,
    );
  });
});

describe('the line splitter', () => {
  const read = (chunks: readonly Uint8Array[]): Line[] => {
    const reader = new LineReader({ maxBytes: 300 });
    const lines = chunks.flatMap((chunk) => reader.push(chunk));
    const last = reader.end();
    return last === undefined ? lines : [...lines, last];
  };
  const shape = (lines: readonly Line[]): unknown[] =>
    lines.map((line) => (line.tooLong ? 'too long' : line.text));

  test('yields the same lines however the bytes are cut', { timeout: FUZZ_MS }, () => {
    const text = fc.array(near(messages), { maxLength: 4 }).map((lines) => lines.join('\n'));
    const input = fc.oneof(text.map(bytes), fc.uint8Array({ maxLength: 400 }));
    fc.assert(
      fc.property(input, fc.array(fc.nat(), { maxLength: 12 }), (all, cuts) => {
        expect(shape(read(pieces(all, cuts)))).toEqual(shape(read([all])));
      }),
      limits,
    );
  });
});

describe('the event stream reader', () => {
  const texts = corpus('event-streams').map(
    (line) => JSON.parse(`"${line.replaceAll('"', '\\"').replaceAll('\\0', '\\u0000')}"`) as string,
  );
  const read = (chunks: readonly Uint8Array[]): unknown[] => {
    const reader = new EventStreamReader({ maxBytes: 300 });
    const events: unknown[] = [];
    try {
      for (const chunk of chunks) for (const event of reader.push(chunk)) events.push(event);
    } catch (error) {
      expect(error).toBeInstanceOf(EventTooLarge);
    }
    return [...events, reader.lastEventId, reader.retryMs];
  };

  test('yields the same events however the bytes are cut', { timeout: FUZZ_MS }, () => {
    const input = fc.oneof(
      fc.array(near(texts), { maxLength: 4 }).map((parts) => bytes(parts.join(''))),
      fc.uint8Array({ maxLength: 200 }),
    );
    fc.assert(
      fc.property(input, fc.array(fc.nat(), { maxLength: 12 }), (all, cuts) => {
        expect(read(pieces(all, cuts))).toEqual(read([all]));
      }),
      limits,
    );
  });

  test('reads back any data that was printed', { timeout: FUZZ_MS }, () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 80 }), (data) => {
        const sound = Buffer.from(data).toString();
        const reader = new EventStreamReader({ maxBytes: 10_000 });
        const [event] = [...reader.push(bytes(printEvent({ data: sound, id: '7' })))];
        expect(event).toMatchObject({ data: sound.replaceAll(/\r\n|\r/g, '\n'), id: '7' });
      }),
      limits,
    );
  });
});

describe('the URI template parser', () => {
  const [templates, uris] = [corpus('templates'), corpus('uris')];

  test('reads a template or throws a RangeError, and never matches control characters or ".." segments', {
    timeout: FUZZ_MS,
  }, () => {
    fc.assert(
      fc.property(near(templates), fc.array(near(uris), { maxLength: 4 }), (text, subjects) => {
        let template: ReturnType<typeof parseTemplate>;
        try {
          template = parseTemplate(text);
        } catch (error) {
          expect(error).toBeInstanceOf(RangeError);
          return;
        }
        for (const uri of subjects) {
          const found = template.match(uri);
          for (const value of Object.values(found ?? {}).flat()) {
            expect(value).not.toMatch(/\p{Cc}/u);
            expect(value.split(/[/\\]/)).not.toContain('..');
          }
        }
      }),
      limits,
    );
  });

  test('expands any values to printable ASCII without spaces', { timeout: FUZZ_MS }, () => {
    const value = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 12 }),
      fc.array(fc.string({ unit: 'binary', maxLength: 4 }), { maxLength: 3 }),
    );
    fc.assert(
      fc.property(value, value, (a, b) => {
        for (const text of ['x{a}/{b*}', 'x{?a,b*}', 'x{/a}{#b}', 'x{+a}{;b}']) {
          expect(parseTemplate(text).expand({ a, b })).toMatch(/^[\x21-\x7e]*$/);
        }
      }),
      limits,
    );
  });
});

describe('the header codecs', () => {
  const values = corpus('headers');

  test('decode or reject any string, and restore an encoded value', { timeout: FUZZ_MS }, () => {
    fc.assert(
      fc.property(near(values), fc.string({ unit: 'binary' }), (header, text) => {
        expect(['string', 'undefined']).toContain(typeof decodeHeaderValue(header));
        const sound = Buffer.from(text).toString();
        expect(decodeHeaderValue(encodeHeaderValue(sound))).toBe(sound);
        accepts(header, 'text/event-stream');
      }),
      limits,
    );
  });

  test('check Host and Origin without an error, and accept only loopback hosts and well-formed origins', {
    timeout: FUZZ_MS,
  }, () => {
    const guard = createGuard({});
    fc.assert(
      fc.property(near(values), near(values), (host, origin) => {
        const header = (name: string): string => (name === 'host' ? host : origin);
        const incoming = { header, local: true, secure: false } as unknown as Incoming;
        if (guard.refuse(incoming) !== undefined) return;
        const name = new URL(`http://${host}`).hostname;
        expect(
          name === 'localhost' || name.endsWith('.localhost') || name === '127.0.0.1' || name === '[::1]',
        ).toBe(true);
        expect(new URL(origin).origin).toBe(origin);
      }),
      limits,
    );
  });
});

describe('the session id check', () => {
  test('accepts the issued id, and rejects any other', { timeout: FUZZ_MS }, async () => {
    const ids = sessionIds({ secrets: ['x'.repeat(40)], maxAgeMs: 60_000 });
    const issued = await ids.issue({
      revision: '2025-11-25',
      client: { name: 'fuzz', version: '1' },
      capabilities: {},
    } as Parameters<typeof ids.issue>[0]);
    expect(await ids.read(issued)).toBeDefined();
    await fc.assert(
      fc.asyncProperty(fc.oneof(near([issued]), fc.string({ unit: 'binary' })), async (id) => {
        if (id !== issued) expect(await ids.read(id)).toBeUndefined();
      }),
      limits,
    );
  });
});

describe('the base64 decoder', () => {
  test('decodes or rejects any string without an error, and restores any encoded bytes', {
    timeout: FUZZ_MS,
  }, () => {
    const text = fc.oneof(near(['aGk', 'AAAA', '-_-_', 'aGk=']), fc.string({ unit: 'binary' }));
    fc.assert(
      fc.property(text, fc.uint8Array({ maxLength: 40 }), (encoded, value) => {
        decodeBase64(encoded);
        const decoded = decodeBase64Url(encoded);
        if (decoded !== undefined) expect(decodeBase64Url(encodeBase64Url(decoded))).toEqual(decoded);
        expect(decodeBase64Url(encodeBase64Url(value))).toEqual(value);
      }),
      limits,
    );
  });
});
