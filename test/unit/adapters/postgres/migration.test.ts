import { spawn } from 'node:child_process';
import { once } from 'node:events';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { type PostgresCluster, type PostgresOptions, postgres } from 'fullmcp/postgres';
import pg from 'pg';
import { afterEach, expect, test } from 'vitest';
import { type Migration, migrate } from '../../../../src/adapters/postgres/database/migrate.js';
import { describeWithPostgres, freshSchema } from '../../../support/engines/postgres.js';

const clusters: PostgresCluster[] = [];
afterEach(async () => {
  await Promise.all(clusters.splice(0).map((each) => each.close()));
});

function open(options: PostgresOptions): PostgresCluster {
  const cluster = postgres(options);
  clusters.push(cluster);
  return cluster;
}

describeWithPostgres('The schema on Postgres', (server) => {
  const versions = (schema: string) =>
    server().query<{ version: number }>(`SELECT version FROM ${schema}.migration ORDER BY version`);

  test('Eight processes that start at the same time make it once', async () => {
    const schema = freshSchema();
    const script = fileURLToPath(new URL('fixtures/start.mjs', import.meta.url));
    const env = { ...process.env, TEST_URL: server().url, TEST_SCHEMA: schema };
    const children = Array.from({ length: 8 }, () =>
      spawn(process.execPath, [script], { env, stdio: ['pipe', 'pipe', 'inherit'] }),
    );
    const exits = children.map((child) => once(child, 'exit'));
    await Promise.all(children.map((child) => once(child.stdout, 'data')));
    for (const child of children) child.stdin.write('go\n');
    expect((await Promise.all(exits)).map(([code]) => code)).toEqual(children.map(() => 0));
    expect(await versions(schema)).toEqual([{ version: 1 }]);
    const { store } = open({ url: server().url, schema });
    expect((await store.get('c:g'))?.value).toEqual({ count: 8 });
  }, 60_000);

  test('Later steps are taken once, in order, by connections that race for them', async () => {
    const schema = freshSchema();
    const steps: Migration[] = [
      (name) => `CREATE TABLE ${name}.a (n int)`,
      (name) => `ALTER TABLE ${name}.a ADD COLUMN m int; INSERT INTO ${name}.a VALUES (1, 2)`,
      (name) => `UPDATE ${name}.a SET n = n + 1`,
    ];
    const pool = new pg.Pool({ connectionString: server().url, max: 10 });
    const race = (count: number) =>
      Promise.all(
        Array.from({ length: 10 }, async () => {
          const client = await pool.connect();
          await migrate(client, schema, steps.slice(0, count));
          client.release();
        }),
      );
    await race(1);
    await race(3);
    expect(await versions(schema)).toEqual([{ version: 1 }, { version: 2 }, { version: 3 }]);
    expect(await server().query(`SELECT * FROM ${schema}.a`)).toEqual([{ n: 2, m: 2 }]);
    const client = await pool.connect();
    const failing = migrate(client, schema, [...steps, () => 'SELECT 1 / 0']);
    await expect(failing).rejects.toThrow('division by zero');
    // A step that fails leaves no transaction behind.
    await migrate(client, schema, steps);
    client.release();
    await pool.end();
  });

  test('A schema of a newer version is an error that says what to do', async () => {
    const schema = freshSchema();
    const first = open({ url: server().url, schema });
    await first.start();
    await server().query(`INSERT INTO ${schema}.migration (version) VALUES (2)`);
    const second = open({ url: server().url, schema });
    const message = `The schema "${schema}" has version 2, and this version of fullmcp knows only 1. Update fullmcp`;
    await expect(second.start()).rejects.toThrow(message);
    await expect(second.store.get('a:g')).rejects.toThrow(message);
    await server().query(`DELETE FROM ${schema}.migration WHERE version = 2`);
    expect(await second.store.get('a:g')).toBe(undefined);
  });

  test('A user with the documented grants can use a schema that another user made', async () => {
    const schema = freshSchema();
    const role = `${schema}_app`;
    await server().query(`CREATE ROLE ${role} LOGIN`);
    const url = server().url.replace('postgres@', `${role}@`);
    const app = open({ url, schema });
    await expect(app.start()).rejects.toThrow(
      /permission denied.*let a user who has it call start\(\) once/s,
    );
    await open({ url: server().url, schema }).start();
    await server().query(`GRANT USAGE ON SCHEMA ${schema} TO ${role};
      GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${schema} TO ${role};
      GRANT USAGE ON ALL SEQUENCES IN SCHEMA ${schema} TO ${role}`);
    expect(await app.start()).toEqual([]);
    await app.store.write([
      { do: 'enqueue', queue: 'q', key: 'g:1' },
      { do: 'put', key: 'a:g', value: {} },
    ]);
    expect(await app.store.claim('q', { owner: 'app', limit: 1, ms: 1000 })).toHaveLength(1);
    await app.bus.publish('t', {});
    await app.eventLog.append('s', 'x');
  });

  test('A user who owns a schema needs no right to make schemas', async () => {
    const schema = freshSchema();
    const role = `${schema}_app`;
    await server().query(`CREATE ROLE ${role} LOGIN; CREATE SCHEMA ${schema} AUTHORIZATION ${role}`);
    const app = open({ url: server().url.replace('postgres@', `${role}@`), schema });
    expect(await app.start()).toEqual([]);
  });

  test('Settings that may lose data are warnings in whole sentences', async () => {
    const schema = freshSchema();
    const settings = ['fsync = off', 'full_page_writes = off', 'synchronous_commit = off'];
    for (const setting of settings) await server().query(`ALTER SYSTEM SET ${setting}`);
    await server().query('SELECT pg_reload_conf()');
    try {
      const warnings = await open({ url: server().url, schema }).start();
      expect(warnings).toHaveLength(3);
      for (const [at, name] of ['fsync', 'full_page_writes', 'synchronous_commit'].entries())
        expect(warnings[at]).toMatch(
          new RegExp(`^Postgres at [^ ]+: "${name}" is off, so .* Set ${name} = on`),
        );
    } finally {
      await server().query('ALTER SYSTEM RESET ALL');
      await server().query('SELECT pg_reload_conf()');
    }
  });

  test('A database that cannot keep every string, or another isolation level, is refused', async () => {
    await server().query("CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0");
    const latin = open({ url: server().url.replace(/postgres$/, 'latin') });
    await expect(latin.start()).rejects.toThrow(/the encoding of the database is LATIN1/);
    const schema = freshSchema();
    const role = `${schema}_app`;
    await server().query(`CREATE ROLE ${role} LOGIN SUPERUSER;
      ALTER ROLE ${role} SET default_transaction_isolation = 'repeatable read'`);
    const url = server().url.replace('postgres@', `${role}@`);
    // A connection of our own sets the level; one of a pooler cannot.
    expect(await open({ url, schema }).start()).toEqual([]);
    await expect(open({ url, schema, listen: false }).start()).rejects.toThrow(
      /"repeatable read".*ALTER ROLE/,
    );
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    const write = client.query(`SELECT * FROM ${schema}.write_1('[]', '{}', null, null, null, false, 1000)`);
    await expect(write).rejects.toThrow('a write needs READ COMMITTED');
    await client.end();
  });

  test.each([
    [{ schema: 'Robert"; DROP' }, 'the schema "Robert\\"; DROP" must'],
    [{ schema: 'pg_mine' }, 'must not begin with "pg_"'],
    [{ poolSize: 0 }, '"poolSize" must be an integer, 1 or more, not 0.'],
    [{ timeoutMs: Number.NaN }, '"timeoutMs" must be an integer'],
    [{ events: { maxAge: 5 } }, 'has no option "events.maxAge"'],
    [{ statementTimeoutMs: 5 }, 'Did you mean "timeoutMs"?'],
    [{ urll: 'x' }, 'Did you mean "url"?'],
    [{ url: 'http://user:secret@host/db' }, 'is not the URL of a Postgres database'],
    [{ url: 'postgres://u:a%zz@host/db' }, 'percent'],
  ])('The options %j are rejected at once, without a password', (options, message) => {
    const make = () => postgres(options as PostgresOptions);
    expect(make).toThrow(TypeError);
    expect(make).toThrow(message);
    expect(make).not.toThrow('secret');
  });

  test('Nothing is connected before the cluster is used', async () => {
    const cluster = postgres({ url: 'postgres://nobody:secret@127.0.0.1:1/none' });
    await cluster.close();
  });
});
