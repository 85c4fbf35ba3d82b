import { nats } from 'fullmcp/nats';
import { expect, test } from 'vitest';
import { describeWithNats, startNats, useNats } from '../../../../support/engines/nats.js';
import { connectRaw } from '../../../../support/engines/nats-raw.js';
import { soon, until } from '../../../../support/until.js';

describeWithNats('nats', () => {
  const nat = useNats();

  test('start warns of a version that can lose events in a power cut, and prepares the stream', async () => {
    const cluster = nats({ url: nat.engine.url });
    const warnings = await cluster.start();
    const raw = await connectRaw(nat.engine.url);
    const [major = 0, minor = 0] = (raw.info?.version ?? '').split('.').map(Number);
    await raw.close();
    const isOld = major === 2 && minor < 10;
    expect(warnings).toHaveLength(isOld ? 1 : 0);
    if (isOld)
      expect(warnings[0]).toMatch(
        /^NATS at .* before 2\.10, events of the last seconds can be lost in a power cut/,
      );
    for (const warning of warnings) expect(warning).toMatch(/^[A-Z].*\.$/);
    await cluster.ping();
    await cluster.close();
  });

  test('start warns of a log in memory', async () => {
    const cluster = nats({ url: nat.engine.url, prefix: 'in-memory', events: { storage: 'memory' } });
    expect(await cluster.start()).toEqual([
      'The event log is in the memory of NATS: when nats-server restarts, clients cannot resume their streams.',
    ]);
    await cluster.close();
  });

  test('start warns that the size of a stream cannot be limited', async () => {
    const cluster = nats({ url: nat.engine.url, prefix: 'sizes', events: { maxBytesPerStream: 5000 } });
    expect((await cluster.start()).at(-1)).toMatch(/^NATS cannot limit the size of a stream/);
    await cluster.close();
  });

  test('start says what to do if JetStream has no room for the log', async () => {
    const cluster = nats({ url: nat.engine.url, prefix: 'huge', events: { maxBytes: 2 ** 40 } });
    await expect(cluster.start()).rejects.toThrow(
      /^JetStream has no room for the event log \(insufficient .*\)\. Lower `events\.maxBytes`/,
    );
    await cluster.close();
  });

  test('start of ten processes at once makes one stream, and other limits replace the old ones', async () => {
    const many = Array.from({ length: 10 }, () => nats({ url: nat.engine.url, prefix: 'ten' }));
    await Promise.all(many.map((cluster) => cluster.start()));
    const other = nats({ url: nat.engine.url, prefix: 'ten', events: { maxEventsPerStream: 7 } });
    await other.start();
    const ids: string[] = [];
    for (let n = 0; n < 9; n++) ids.push(await other.eventLog.append('s', `${n}`));
    expect((await other.eventLog.follow(ids[0] as string, AbortSignal.timeout(1)))?.gap).toBe(true);
    await Promise.all([...many, other].map((cluster) => cluster.close()));
  });

  test('start is rejected where JetStream is not enabled', async () => {
    const engine = await startNats({ jetStream: false });
    const cluster = nats({ url: engine.url });
    await expect(cluster.start()).rejects.toThrow(
      /^JetStream is not enabled on NATS at 127\.0\.0\.1:\d+\. Add /,
    );
    await cluster.close();
    await engine.stop();
  });

  test('start is rejected where nothing listens, and succeeds later', async () => {
    const engine = await startNats();
    await engine.kill();
    const cluster = nats({ url: engine.url, timeoutMs: 500 });
    await expect(soon('a rejection', cluster.start())).rejects.toThrow(
      /^NATS at 127\.0\.0\.1:\d+ cannot be reached: .* Check the address/,
    );
    await engine.start();
    await cluster.start();
    await cluster.close();
    await engine.stop();
  });

  test('ping is rejected in bounded time while the server is stopped or gone, and recovers', async () => {
    const engine = await startNats();
    const cluster = nats({ url: engine.url, timeoutMs: 500 });
    await cluster.start();
    await engine.pause();
    await expect(soon('a rejection', cluster.ping())).rejects.toThrow(
      /^NATS does not answer: no answer within 500 ms/,
    );
    engine.resume();
    await until('it answers', () => isOk(cluster.ping()));
    await engine.kill();
    await expect(soon('a rejection', cluster.ping())).rejects.toThrow(/^NATS does not answer: /);
    await engine.start();
    await until('it answers', () => isOk(cluster.ping()));
    await cluster.close();
    await engine.stop();
  });

  test('A wrong password is an error that does not show the password', async () => {
    const engine = await startNats({ config: 'authorization { user: a, password: right }' });
    const port = engine.url.slice('nats://'.length);
    for (const options of [
      { url: `nats://a:wr0ng@${port}` },
      { servers: [port], user: 'a', pass: 'wr0ng' },
      { url: `nats://wr0ng@${port}` },
    ]) {
      const cluster = nats(options);
      const error = await cluster.start().catch((reason: unknown) => reason);
      expect(String(error)).toMatch(
        /^NatsFailure: NATS at 127\.0\.0\.1:\d+ rejected the credentials\. Check /,
      );
      expect(String((error as Error).stack)).not.toContain('wr0ng');
      await cluster.close();
    }
    const cluster = nats({ url: `nats://a:right@${port}` });
    await cluster.start();
    await cluster.close();
    await engine.stop();
  });

  test('The option `token` logs in at a server that wants one', async () => {
    const engine = await startNats({ config: 'authorization { token: right }' });
    const cluster = nats({ url: engine.url, token: 'right' });
    await cluster.start();
    await cluster.close();
    await engine.stop();
  });

  test('An authenticator of the program logs in at a server that knows its users', async () => {
    const engine = await startNats({ config: 'authorization { user: a, password: right }' });
    const cluster = nats({ url: engine.url, authenticator: () => ({ user: 'a', pass: 'right' }) });
    await cluster.start();
    await cluster.ping();
    await cluster.close();
    await engine.stop();
  });

  test('A connection of the program is used and stays open', async () => {
    const connection = await connectRaw(nat.engine.url);
    const cluster = nats({ connection });
    await cluster.start();
    await cluster.bus.publish('t', {});
    await cluster.close();
    await connection.flush();
    await connection.close();
  });

  test.each([
    [
      { url: 'http://secret@host' },
      'The URL of NATS cannot be read. Write nats://host:4222, or tls://host:4222.',
    ],
    [{ url: 'nats://' }, 'The URL of NATS cannot be read'],
    [{ url: 'nats://a:b@' }, 'The URL of NATS has an empty host'],
    [{ url: 'nats://h', servers: ['h'] }, 'Pass only one of the options url, servers.'],
    [{ servers: [] }, 'The option `servers` is empty'],
    [{ prefix: 'a b' }, '`prefix` must be one to four words'],
    [{ prefix: '>' }, '`prefix` must be one to four words'],
    [{ prefx: 'a' }, 'nats has no option "prefx"'],
    [{ timeoutMs: -1 }, '"timeoutMs" must be an integer from 1 to 2147483647, not -1.'],
    [{ events: { maxAge: 1 } }, 'nats has no option "events.maxAge"'],
    [{ events: { maxBytes: 0 } }, 'nats: "events.maxBytes" must be an integer, 1 or more, not 0.'],
    [{ events: { maxAgeMs: 5 } }, 'nats: "events.maxAgeMs" must be an integer, 1000 or more, not 5.'],
    [{ events: { storage: 'tape' } }, 'nats: "events.storage" must be "file" or "memory", not "tape".'],
  ])('The options %j are rejected', (options, message) => {
    expect(() => nats(options as never)).toThrow(message);
  });
});

function isOk(promise: Promise<unknown>): Promise<boolean> {
  return promise.then(
    () => true,
    () => false,
  );
}
