import type { PgPool } from 'fullmcp/postgres';
import pg from 'pg';
import { expect, test } from 'vitest';
import { targetOfPool } from '../../../../src/adapters/postgres/database/target.js';

const nameOf = (options: pg.PoolConfig): string =>
  targetOfPool(new pg.Pool(options) as unknown as PgPool).name;

test('errors about a pool name the host, the port and the database of its connection string', () => {
  expect(nameOf({ connectionString: 'postgres://ann:secret@db.example:6543/shop' })).toBe(
    'db.example:6543/shop',
  );
  expect(nameOf({ connectionString: 'postgresql://db.example' })).toBe('db.example:5432');
  expect(nameOf({ connectionString: 'postgres:///shop?host=/var/run/postgresql' })).toBe(
    '/var/run/postgresql:5432/shop',
  );
});

test('errors about a pool with single settings name those', () => {
  expect(nameOf({ host: 'db.example', port: 6543, database: 'shop' })).toBe('db.example:6543/shop');
  expect(targetOfPool({} as PgPool).name).toBe('localhost:5432');
});

test('the password of a connection string is removed from errors', () => {
  const { redact } = targetOfPool(
    new pg.Pool({ connectionString: 'postgres://ann:s3cret@db/x' }) as unknown as PgPool,
  );
  expect(redact('cannot use postgres://ann:s3cret@db/x')).toBe('cannot use postgres://ann:***@db/x');
});
