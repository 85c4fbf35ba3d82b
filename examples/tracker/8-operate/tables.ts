import pg from 'pg';
import { url } from './issues.ts';

// Makes the tables. Run it once, before the first process starts.

const client = new pg.Client({ connectionString: url });
await client.connect();
await client.query(`
  CREATE TABLE IF NOT EXISTS issue (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    key text UNIQUE,
    fields jsonb NOT NULL
  );
  CREATE TABLE IF NOT EXISTS activity (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    line text NOT NULL
  )`);
await client.end();
console.log('The tables are there.');
