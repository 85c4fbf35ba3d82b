import { inspect } from 'node:util';
import { type PgPool, type PostgresCluster, type PostgresOptions, postgres } from 'fullmcp/postgres';
import pg from 'pg';
import { afterEach, expect, test } from 'vitest';
import { describeWithPostgres, freshSchema } from '../../../support/engines/postgres.js';
import { soon, until } from '../../../support/until.js';

const clusters: PostgresCluster[] = [];
afterEach(async () => {
  await Promise.all(clusters.splice(0).map((each) => each.close()));
});

function open(options: PostgresOptions): PostgresCluster {
  const cluster = postgres(options);
  clusters.push(cluster);
  return cluster;
}

/** The error of a call that must fail. */
async function errorOf(promise: Promise<unknown>): Promise<Error> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof Error)) throw new Error('The call did not fail');
  return error;
}

describeWithPostgres('A cluster on a Postgres that fails', (server) => {
  test('Calls fail with a clear error while the server is dead, and succeed by themselves when it is back', async () => {
    const schema = freshSchema();
    const cluster = open({ url: server().url, schema });
    await cluster.start();
    const heard: unknown[] = [];
    let gaps = 0;
    await cluster.bus.subscribe('t', { message: (message) => heard.push(message), gap: () => void gaps++ });
    await cluster.store.write([
      { do: 'put', key: 'a:g', value: { n: 1 } },
      { do: 'enqueue', queue: 'q', key: 'g:1' },
    ]);
    const [lease] = await cluster.store.claim('q', { owner: 'a', limit: 1, ms: 600_000 });
    const first = await cluster.eventLog.append('s', 'one');
    const followed = await cluster.eventLog.follow(first, new AbortController().signal);
    const events = followed?.events[Symbol.asyncIterator]() as AsyncIterator<{ data: string }>;
    const next = events.next();

    await server().kill();
    const calls: readonly [string, () => Promise<unknown>][] = [
      ['get', () => cluster.store.get('a:g')],
      ['write', () => cluster.store.write([{ do: 'put', key: 'a:g', value: {} }])],
      ['claim', () => cluster.store.claim('q', { owner: 'a', limit: 1, ms: 1 })],
      ['renew', () => cluster.store.renew(lease === undefined ? [] : [lease], 1)],
      ['publish', () => cluster.bus.publish('t', { n: 1 })],
      ['append', () => cluster.eventLog.append('s', 'x')],
      ['ping', () => cluster.ping()],
    ];
    for (const [name, call] of calls) {
      const error = await errorOf(soon(name, call()));
      expect(error, name).not.toBeInstanceOf(RangeError);
      expect(error.message, name).toMatch(/^Postgres at 127\.0\.0\.1:\d+\/postgres /);
    }
    expect((await errorOf(cluster.ping())).message).toMatch(/ECONNREFUSED.*Check that the server runs/);

    await server().start();
    await until('the gap was reported', () => gaps > 0);
    expect((await cluster.store.get('a:g'))?.value).toEqual({ n: 1 });
    await cluster.bus.publish('t', { n: 2 });
    await until('the message arrived', () => heard.length > 0);
    expect(heard).toEqual([{ n: 2 }]);
    expect(await cluster.store.renew(lease === undefined ? [] : [lease], 1)).toEqual([lease]);
    const [again] = await claimed(() => cluster.store.claim('q', { owner: 'b', limit: 1, ms: 1000 }));
    expect(again?.token).toBeGreaterThan(lease?.token ?? Number.POSITIVE_INFINITY);
    // The reader of the stream is still there.
    await cluster.eventLog.append('s', 'two');
    expect((await soon('the event', next)).value).toMatchObject({ data: 'two' });
    await events.return?.();
  }, 60_000);

  test('Of the writes that a crash cut off, those that were confirmed are kept, and the others can be repeated without doubling', async () => {
    const schema = freshSchema();
    const cluster = open({ url: server().url, schema });
    await cluster.start();
    const confirmed: string[] = [];
    const unknown: string[] = [];
    const append = (name: string) =>
      cluster.store.write([
        { do: 'append', list: 'l:g', name, value: {} },
        { do: 'count', key: 'c:g', by: 1 },
      ]);
    const writers = Array.from({ length: 8 }, async (_, writer) => {
      for (let n = 0; ; n++) {
        const name = `${writer}-${n}`;
        const written = await append(name).catch(() => undefined);
        if (written?.ok) confirmed.push(name);
        else {
          unknown.push(name);
          return;
        }
      }
    });
    await until('some writes were made', () => confirmed.length > 50);
    await server().kill();
    await Promise.all(writers);
    await server().start();
    expect(unknown.length).toBeGreaterThan(0);
    const kept = new Set((await cluster.store.items('l:g')).map(({ name }) => name));
    for (const name of confirmed) expect(kept.has(name), name).toBe(true);
    for (const name of unknown)
      expect(await append(name)).toEqual(kept.has(name) ? { ok: false, refusedBy: 0 } : { ok: true });
    const all = [...confirmed, ...unknown];
    expect((await cluster.store.items('l:g')).map(({ name }) => name).sort()).toEqual(all.sort());
    expect((await cluster.store.get('c:g'))?.value).toEqual({ count: all.length });
  }, 60_000);

  test('A server that answers nothing is reported in bounded time, and used again when it answers', async () => {
    const schema = freshSchema();
    const cluster = open({
      url: server().url,
      schema,
      timeoutMs: 1500,
      connectTimeoutMs: 1500,
      poolSize: 2,
    });
    await cluster.start();
    server().pause();
    try {
      const errors = await Promise.all(
        Array.from({ length: 6 }, (_, n) =>
          errorOf(soon('the error', cluster.store.write([{ do: 'put', key: `a:g:${n}`, value: {} }]))),
        ),
      );
      for (const { message } of errors)
        expect(message).toMatch(
          /(did not answer a statement|gave no connection|had none of its 2 connections free) within \d+ ms/,
        );
    } finally {
      server().resume();
    }
    await until('the server is used again', () =>
      cluster.store.write([{ do: 'put', key: 'a:g', value: {} }]).then(
        () => true,
        () => false,
      ),
    );
    await until('the connections are there again', () =>
      cluster.ping().then(
        () => true,
        () => false,
      ),
    );
  }, 60_000);

  test('A connection that listens and gets no answer is opened anew, and the gap is reported', async () => {
    const schema = freshSchema();
    const cluster = open({ url: server().url, schema, timeoutMs: 1500, connectTimeoutMs: 1500 });
    await cluster.start();
    let gaps = 0;
    await cluster.bus.subscribe('t', { message: () => undefined, gap: () => void gaps++ });
    const [listener] = await server().query<{ pid: number }>(
      "SELECT pid FROM pg_stat_activity WHERE application_name = 'fullmcp' AND query LIKE 'LISTEN%'",
    );
    // The process of this one connection stops: no error, no end, only silence.
    process.kill(listener?.pid as number, 'SIGSTOP');
    try {
      await until('the gap was reported', () => gaps > 0, 18_000);
    } finally {
      process.kill(listener?.pid as number, 'SIGCONT');
    }
  }, 30_000);

  test('A lock that somebody else holds ends in an error that says so', async () => {
    const schema = freshSchema();
    const cluster = open({ url: server().url, schema, timeoutMs: 1500 });
    await cluster.store.write([{ do: 'enqueue', queue: 'q', key: 'g:1' }]);
    const [lease] = await cluster.store.claim('q', { owner: 'a', limit: 1, ms: 600_000 });
    const client = new pg.Client({ connectionString: server().url });
    await client.connect();
    await client.query(`BEGIN; SELECT * FROM ${schema}.work FOR UPDATE`);
    const write = cluster.store.write([{ do: 'put', key: 'a:g', value: {} }], lease ? { guard: lease } : {});
    expect((await errorOf(write)).message).toMatch(/(lock timeout|statement timeout)/);
    await client.query('ROLLBACK');
    await client.end();
    expect(await cluster.store.get('a:g')).toBe(undefined);
    expect(await cluster.store.renew(lease ? [lease] : [], 1000)).toEqual([lease]);
  });

  test('The password is in no error, and not in its properties', async () => {
    const secret = 'p%40ss-w0rd';
    await server().query(`CREATE ROLE shy LOGIN PASSWORD '${decodeURIComponent(secret)}'`);
    const base = `postgres://shy:${secret}@127.0.0.1`;
    const urls = [
      `${base}:1/postgres`,
      `${base}:${server().port}/missing`,
      `${base.replace('127.0.0.1', 'no.such.host.invalid')}/x`,
    ];
    for (const url of urls) {
      const cluster = open({ url });
      for (const call of [() => cluster.start(), () => cluster.ping(), () => cluster.store.get('a:g')]) {
        const error = await errorOf(call());
        const shown = `${inspect(error, { depth: 10, showHidden: true })} ${error.stack} ${JSON.stringify(error)}`;
        expect(shown).not.toContain('w0rd');
        expect(shown).toContain('Postgres at ');
      }
    }
  }, 30_000);

  test('Connections that the server ends while they are idle or in use do not end the process', async () => {
    const pool = new pg.Pool({ connectionString: server().url, max: 4, application_name: 'fullmcp' });
    const clusters = [
      open({ url: server().url, schema: freshSchema() }),
      open({ pool, schema: freshSchema() }),
    ];
    for (const cluster of clusters) {
      await cluster.start();
      await Promise.all(Array.from({ length: 3 }, () => cluster.store.get('a:g')));
    }
    const working = clusters[0]?.store.transaction(
      async (client) => {
        await client.query('SELECT 1');
        await server().query(
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'fullmcp'",
        );
        await until('the connection is gone', () =>
          client.query('SELECT 1').then(
            () => false,
            () => true,
          ),
        );
        return {};
      },
      () => ({ changes: [{ do: 'put', key: 'a:g', value: {} }] }),
    );
    await expect(working).rejects.toThrow('Postgres at ');
    for (const cluster of clusters)
      await until('the cluster works again', () =>
        cluster.store.write([{ do: 'put', key: 'b:g', value: {} }]).then(
          () => true,
          () => false,
        ),
      );
    for (const cluster of clusters.splice(0)) await cluster.close();
    // The pool is the user's, and still open.
    expect((await pool.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
    await pool.end();
  }, 30_000);

  test('A pooler that accepts LISTEN and hands on no notifications is found out', async () => {
    const pool = new pg.Pool({ connectionString: server().url, max: 4 });
    const withoutNotifications: PgPool = {
      connect: async () => {
        const client = await pool.connect();
        client.on = new Proxy(client.on, {
          apply: (on, self, args: [string, () => void]) =>
            args[0] === 'notification' ? self : Reflect.apply(on, self, args),
        });
        return client;
      },
      end: () => pool.end(),
      on: (event, listener) => pool.on(event, listener),
      removeListener: (event, listener) => pool.removeListener(event, listener),
    };
    const cluster = open({ pool: withoutNotifications, schema: freshSchema(), timeoutMs: 1000 });
    await expect(cluster.start()).rejects.toThrow('set the option "listen" to false');
    await cluster.close();
    await pool.end();
  }, 30_000);

  test('A cluster that is closed while it begins to listen is closed soon', async () => {
    for (let n = 0; n < 5; n++) {
      const cluster = open({ url: server().url, schema: freshSchema() });
      await cluster.store.get('a:g');
      const subscribed = cluster.bus.subscribe('t', { message: () => undefined, gap: () => undefined });
      for (let turn = 0; turn < n; turn++) await new Promise((resolve) => setImmediate(resolve));
      await Promise.all([cluster.close(), subscribed.catch(() => undefined)]);
    }
  });

  test('A closed cluster says so', async () => {
    const cluster = open({ url: server().url, schema: freshSchema() });
    await cluster.start();
    await cluster.close();
    await cluster.close();
    await expect(cluster.store.get('a:g')).rejects.toThrow('are closed');
    await expect(cluster.bus.publish('t', {})).rejects.toThrow('The bus is closed');
    await expect(cluster.ping()).rejects.toThrow('are closed');
  });

  test('Leases are renewed while so many writes wait that some of them fail', async () => {
    const schema = freshSchema();
    const cluster = open({ url: server().url, schema, poolSize: 2, connectTimeoutMs: 700 });
    await cluster.start();
    await cluster.store.write([{ do: 'enqueue', queue: 'q', key: 'g:1' }]);
    const leases = await cluster.store.claim('q', { owner: 'a', limit: 1, ms: 600_000 });
    const client = new pg.Client({ connectionString: server().url });
    await client.connect();
    await client.query(`BEGIN; LOCK TABLE ${schema}.entry`);
    const writes = Array.from({ length: 50 }, (_, n) =>
      cluster.store.write([{ do: 'put', key: `a:g:${n}`, value: {} }]).then(
        () => undefined,
        (error: Error) => error.message,
      ),
    );
    await until('the writes wait', async () => {
      const waiting =
        "SELECT 1 FROM pg_stat_activity WHERE application_name = 'fullmcp' AND wait_event_type = 'Lock'";
      return (await server().query(waiting)).length === 2;
    });
    expect(await cluster.store.renew(leases, 600_000)).toEqual(leases);
    await cluster.ping();
    const failed = await writes[49];
    expect(failed).toMatch(/had none of its 2 connections free within 700 ms/);
    await client.query('ROLLBACK');
    await client.end();
    await Promise.all(writes);
  }, 30_000);

  test('A pool with too few connections is refused', () => {
    const pool = new pg.Pool({ connectionString: server().url, max: 2 });
    expect(() => postgres({ pool })).toThrow('Set its "max" to 3 or more');
    expect(() => postgres({ pool, url: server().url })).toThrow('either "url" or "pool"');
  });
});

/** Repeats a call until it returns something. */
async function claimed<T>(call: () => Promise<readonly T[]>): Promise<readonly T[]> {
  let found: readonly T[] = [];
  await until('there is something', async () => {
    found = await call();
    return found.length > 0;
  });
  return found;
}
