import { describe, expect, test } from 'vitest';
import type { McpError } from '../../../../../src/protocol/errors.js';
import {
  discovered,
  empty,
  failure,
  type OpenLink,
  open,
  SECRET,
  text,
} from '../../../../support/http/http-link.js';
import {
  error,
  json,
  type Reply,
  result,
  type ScriptedServer,
  scriptedServer,
} from '../../../../support/http/http-server.js';

describe('the error of a first request', () => {
  async function opening(reply: Reply): Promise<OpenLink & { server: ScriptedServer }> {
    const server = await scriptedServer(reply);
    try {
      return { ...(await open(server.url, { auth: SECRET }, true)), server };
    } finally {
      await server[Symbol.asyncDispose]();
    }
  }

  test('leads to one more attempt, and only one, if the server lists the version that it rejects', async () => {
    let attempts = 0;
    const { link, server } = await opening((request, response) =>
      attempts++ === 0
        ? json(response, error(request, -32022, 'No', { supported: ['2025-11-25', '2026-07-28'] }), 400)
        : json(response, result(request, discovered)),
    );
    expect(link.discovered).toMatchObject(discovered);
    expect(link.revision).toBe('2026-07-28');
    expect(server.received.map(({ body }) => body?.method)).toEqual(['server/discover', 'server/discover']);
    const always = await failure(
      opening((request, response) =>
        json(response, error(request, -32022, 'No', { supported: ['2026-07-28'] }), 400),
      ),
    );
    expect(always.code).toBe('unsupported_version');
  });

  test.each<[string, Reply]>([
    [
      'other versions',
      (request, response) => json(response, error(request, -32022, 'No', { supported: ['2025-11-25'] }), 400),
    ],
    ['200 and method not found', (request, response) => json(response, error(request, -32601, 'No'))],
    ['200 and invalid params', (request, response) => json(response, error(request, -32602, 'No'))],
    ['200 and internal error', (request, response) => json(response, error(request, -32603, 'No'))],
    [
      '400 for a missing session',
      (_, response) =>
        json(response, { jsonrpc: '2.0', id: null, error: { code: -32000, message: 'Bad Request' } }, 400),
    ],
    ['404', text(404, 'Cannot POST /')],
    ['405', text(405, '')],
    ['415', text(415, '')],
    ['an empty 202', text(202, '')],
    ['a page', text(200, '<html>')],
    ['a result without a description', (request, response) => json(response, result(request, { tools: [] }))],
    ['a stream without a response', empty],
  ])('shows that the server is not modern: %s', async (name, reply) => {
    const reason = await failure(opening(reply));
    expect(reason.code).toBe('unsupported_version');
    if (name === 'other versions') expect(reason.message).toContain('It speaks 2025-11-25.');
    if (name === 'a page') expect((reason.cause as McpError).code).toBe('bad_response');
  });

  test.each<[string, Reply, string]>([
    ['401', text(401, ''), 'unauthorized'],
    ['403', text(403, ''), 'forbidden'],
    ['429', text(429, ''), 'overloaded'],
    ['500', text(500, ''), 'bad_response'],
    ['302', text(302, '', { location: '/x' }), 'bad_response'],
    ['a broken connection', (_, response) => response.destroy(), 'connect_failed'],
    [
      'a header mismatch',
      (request, response) => json(response, error(request, -32020, 'No'), 400),
      'header_mismatch',
    ],
    [
      'a missing capability',
      (request, response) => json(response, error(request, -32021, 'No'), 400),
      'missing_capability',
    ],
  ])('says nothing about the era: %s', async (_, reply, code) => {
    expect((await failure(opening(reply))).code).toBe(code);
  });
});
