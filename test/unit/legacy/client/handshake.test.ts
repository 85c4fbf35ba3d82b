import { McpError } from 'fullmcp';
import { afterEach, describe, expect, it } from 'vitest';
import { handshake } from '../../../../src/legacy/client/handshake.js';
import { openSessionLink } from '../../../../src/legacy/client/session-link.js';
import type { ClientCapabilities } from '../../../../src/protocol/model/model.js';
import type { Revision } from '../../../../src/protocol/tables/revisions.js';
import type { Exchange } from '../../../../src/transports/client/exchange.js';
import {
  closeLinks,
  linkOver,
  linkToScript,
  listener,
  type Message,
  serverAnswer,
} from '../../../support/wires/session-links.js';

afterEach(closeLinks);

describe('the handshake', () => {
  it.each<[revision: Revision, capabilities: ClientCapabilities, declaration: object]>([
    ['2025-11-25', {}, {}],
    [
      '2025-11-25',
      { elicitation: { form: {}, url: {} }, sampling: { tools: {} }, roots: {} },
      { elicitation: { form: {}, url: {} }, sampling: { tools: {} }, roots: { listChanged: true } },
    ],
    ['2025-06-18', { elicitation: { form: {}, url: {} } }, { elicitation: {} }],
    ['2025-06-18', { elicitation: {} }, { elicitation: {} }],
    ['2025-06-18', { elicitation: { url: {} } }, {}],
    [
      '2025-11-25',
      { extensions: { 'io.modelcontextprotocol/tasks': {}, 'io.modelcontextprotocol/ui': { a: 1 } } },
      { extensions: { 'io.modelcontextprotocol/ui': { a: 1 } } },
    ],
    ['2025-11-25', { extensions: { 'io.modelcontextprotocol/tasks': {} } }, {}],
  ])('declares the capabilities in the form of %s: %j', async (revision, capabilities, declaration) => {
    let params: Message = {};
    const initialize = (request: Message): object => {
      params = request;
      return { ...serverAnswer, protocolVersion: revision };
    };
    await linkToScript({ initialize }, { revision, capabilities });
    expect(params).toEqual({
      protocolVersion: revision,
      capabilities: declaration,
      clientInfo: { name: 'c', version: '1' },
    });
  });

  it('introduces the client as fullmcp if it has no name', async () => {
    let params: Message = {};
    const exchange: Exchange = {
      listen: () => undefined,
      request: async (request) => {
        params = request.params as Message;
        return serverAnswer;
      },
      notify: () => undefined,
      close: async () => undefined,
    };
    const client = { client: undefined, capabilities: {} };
    await handshake(exchange, { client, revision: '2025-11-25', signal: new AbortController().signal });
    expect(params['clientInfo']).toMatchObject({ name: 'fullmcp' });
  });

  it.each(['2024-11-05', '2025-03-26', '2025-06-18'])(
    "accepts the server's version: %s",
    async (protocolVersion) => {
      const { link } = await linkToScript({ initialize: { ...serverAnswer, protocolVersion } });
      expect(link.revision).toBe(protocolVersion);
      expect(link.discovered.supportedVersions).toEqual([protocolVersion]);
    },
  );

  it('is repeated with a version that the server lists when it rejects the first', async () => {
    const versions: unknown[] = [];
    const { link } = await linkToScript({
      initialize({ protocolVersion }) {
        versions.push(protocolVersion);
        if (protocolVersion === '2025-03-26') return { ...serverAnswer, protocolVersion };
        throw { code: -32602, message: 'Unsupported', data: { supported: ['1.0', '2025-03-26'] } };
      },
    });
    expect(versions).toEqual(['2025-11-25', '2025-03-26']);
    expect(link.revision).toBe('2025-03-26');
  });

  it('fails if the server rejects even a version that it lists', async () => {
    const versions: unknown[] = [];
    const opening = linkToScript({
      initialize({ protocolVersion }) {
        versions.push(protocolVersion);
        throw { code: -32602, message: 'Unsupported', data: { supported: ['2025-03-26'] } };
      },
    });
    await expect(opening).rejects.toMatchObject({ code: 'invalid_params' });
    expect(versions).toEqual(['2025-11-25', '2025-03-26']);
  });

  it.each<[version: unknown, name: string]>([
    ['1999-01-01', '1999-01-01'],
    ['2026-07-28', '2026-07-28'],
    [undefined, 'version undefined.'],
    [7, 'version 7.'],
  ])('fails if the server answers with an unsupported version: %s', async (protocolVersion, name) => {
    const opening = linkToScript({ initialize: { ...serverAnswer, protocolVersion } });
    await expect(opening).rejects.toMatchObject({
      code: 'unsupported_version',
      message: expect.stringContaining(name),
    });
  });

  it("fails with the server's error", async () => {
    const opening = linkToScript({
      initialize() {
        throw { code: -32099, message: 'Licence expired', data: { until: 'yesterday' } };
      },
    });
    await expect(opening).rejects.toMatchObject({
      code: 'remote_error',
      number: -32099,
      message: 'The server rejected the handshake: Licence expired',
      data: { until: 'yesterday' },
    });
  });

  it('closes its connection if it fails', async () => {
    let closed = 0;
    const exchange: Exchange = {
      listen: () => undefined,
      request: async () => ({ ...serverAnswer, protocolVersion: 'x' }),
      notify: () => undefined,
      close: async () => void closed++,
    };
    await expect(linkOver(exchange)).rejects.toMatchObject({ code: 'unsupported_version' });
    expect(closed).toBe(1);
  });

  it('fails if the server disconnects while it responds, and reports no lost connection', async () => {
    let disconnect: ((reason: McpError) => void) | undefined;
    const exchange: Exchange = {
      listen: ({ closed }) => {
        disconnect = closed;
      },
      request: async () => {
        disconnect?.(new McpError('connection_closed', 'Gone'));
        return serverAnswer;
      },
      notify: () => undefined,
      close: async () => undefined,
    };
    const { events, lost } = listener(undefined);
    const open = { signal: new AbortController().signal, client: { client: undefined, capabilities: {} } };
    await expect(openSessionLink(exchange, { events, open, transport: 'memory' })).rejects.toMatchObject({
      code: 'connection_closed',
      message: 'Gone',
    });
    expect(lost).toEqual([]);
  });

  it('accepts a server that sends nothing valid but its version', async () => {
    const { link } = await linkToScript({ initialize: { protocolVersion: '2025-06-18', capabilities: 3 } });
    expect(link.discovered).toEqual({ supportedVersions: ['2025-06-18'], capabilities: {} });
  });

  it('fails with the reason of its signal', async () => {
    const controller = new AbortController();
    const opening = linkToScript({ initialize: () => undefined }, { signal: controller.signal });
    controller.abort(new McpError('timeout', 'Too slow'));
    await expect(opening).rejects.toMatchObject({ code: 'timeout', message: 'Too slow' });
  });

  it('reports the extension tasks only for a server of 2025-11-25 that declares tasks', async () => {
    const capabilities = { tasks: { requests: { tools: { call: {} } } }, extensions: { 'a/b': {} } };
    const { link } = await linkToScript({ initialize: { ...serverAnswer, capabilities } });
    expect(link.discovered.capabilities).toEqual({
      extensions: { 'a/b': {}, 'io.modelcontextprotocol/tasks': {} },
    });
    const older = await linkToScript({
      initialize: { ...serverAnswer, protocolVersion: '2025-06-18', capabilities },
    });
    expect(older.link.discovered.capabilities).toEqual({ extensions: { 'a/b': {} } });
  });
});
