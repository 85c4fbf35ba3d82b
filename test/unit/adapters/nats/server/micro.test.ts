import { serveNats } from 'fullmcp/nats';
import { afterEach, expect, test } from 'vitest';
import { describeWithNats, useNats } from '../../../../support/engines/nats.js';
import { collectResponses, connectRaw } from '../../../../support/engines/nats-raw.js';
import { Closing, makeServer } from '../../../../support/engines/nats-services.js';

describeWithNats("NATS' service convention", () => {
  const nat = useNats();
  const closing = new Closing();
  afterEach(() => closing.all());

  async function ask(subject: string): Promise<readonly Record<string, unknown>[]> {
    const raw = closing.add(await connectRaw(nat.engine.url));
    return (await collectResponses(raw, subject, { isDone: () => true })) as never;
  }

  async function serve(service = 'tools') {
    const { server } = makeServer();
    closing.add(server);
    return closing.add(await serveNats(server, { url: nat.engine.url, service }));
  }

  const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
  const metadata = {
    'mcp.revisions': '2026-07-28',
    'mcp.version': '1.2.3',
    'mcp.node': expect.stringMatching(/^.+:\d+$/),
    'mcp.started': expect.stringMatching(ISO),
  };

  test.each(['', '.tools', '.tools.ID'])(
    '$SRV.PING%s is answered with every field and no other',
    async (suffix) => {
      const { id } = await serve();
      const [response] = await ask(`$SRV.PING${suffix.replace('ID', id)}`);
      expect(response).toStrictEqual({
        type: 'io.nats.micro.v1.ping_response',
        name: 'tools',
        id,
        version: '1.2.3',
        metadata,
      });
    },
  );

  test.each(['', '.tools', '.tools.ID'])(
    '$SRV.INFO%s is answered with every field and no other',
    async (suffix) => {
      const { id } = await serve();
      const [response] = await ask(`$SRV.INFO${suffix.replace('ID', id)}`);
      expect(response).toStrictEqual({
        type: 'io.nats.micro.v1.info_response',
        name: 'tools',
        id,
        version: '1.2.3',
        metadata,
        description: 'A server for tests.',
        endpoints: [
          {
            name: 'mcp',
            subject: 'mcp.tools',
            queue_group: 'mcp',
            metadata: { 'mcp.tools': expect.stringContaining('"add","where","echo"') },
          },
        ],
      });
    },
  );

  test.each(['', '.tools', '.tools.ID'])(
    '$SRV.STATS%s is answered with every field and no other',
    async (suffix) => {
      const { id } = await serve();
      const raw = closing.add(await connectRaw(nat.engine.url));
      await collectResponses(raw, 'mcp.tools', { payload: 'garbage', isDone: () => true });
      const [response] = await ask(`$SRV.STATS${suffix.replace('ID', id)}`);
      expect(response).toStrictEqual({
        type: 'io.nats.micro.v1.stats_response',
        name: 'tools',
        id,
        version: '1.2.3',
        metadata,
        started: expect.stringMatching(ISO),
        endpoints: [
          {
            name: 'mcp',
            subject: 'mcp.tools',
            queue_group: 'mcp',
            num_requests: 1,
            num_errors: 1,
            last_error: 'This is not valid JSON',
            processing_time: 0,
            average_processing_time: 0,
          },
        ],
      });
    },
  );

  test('A closed service does not answer any more', async () => {
    const serving = await serve();
    await serving.close();
    expect(await ask('$SRV.PING.tools')).toEqual(['no responders']);
  });

  test('A version that is not semantic is in the metadata only', async () => {
    const { server } = makeServer();
    closing.add(server);
    const odd = { info: { ...server.info, version: 'build 7' }, dispatch: server.dispatch };
    closing.add(await serveNats(odd, { url: nat.engine.url, service: 'odd' }));
    const [response] = await ask('$SRV.PING.odd');
    expect(response).toMatchObject({ version: '0.0.0', metadata: { 'mcp.version': 'build 7' } });
  });

  test('Errors have the headers of the convention', async () => {
    await serve();
    const raw = closing.add(await connectRaw(nat.engine.url));
    const headers = await new Promise<unknown>((resolve) => {
      raw.subscribe('_INBOX.errors', {
        callback: (_error, message) =>
          resolve([
            message.headers?.get('Nats-Service-Error'),
            message.headers?.get('Nats-Service-Error-Code'),
          ]),
      });
      raw.publish('mcp.tools', '[]', { reply: '_INBOX.errors' });
    });
    expect(headers).toEqual(['Invalid message: a message must be a JSON object', '400']);
  });
});
