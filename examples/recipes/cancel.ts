import process from 'node:process';
import { setTimeout } from 'node:timers/promises';
import { createServer, tool } from 'fullmcp';
import pg from 'pg';
import { z } from 'zod';

const PAIRS = 'SELECT count(*) FROM generate_series(1, $1::int) a, generate_series(1, $1::int) b';
const pool = new pg.Pool({ connectionString: process.env['DATABASE_URL'] });

export default createServer({
  name: 'reports',
  version: '1.0.0',
  lifespan: async function* () {
    yield undefined;
    await pool.end();
  },
  tools: {
    count_pairs: tool({
      input: z.object({ of: z.int().min(1).max(1_000_000) }),
      async run({ of }, { signal }) {
        const connection = await pool.connect();
        const { pid } = (await connection.query('SELECT pg_backend_pid() AS pid')).rows[0];
        let isRunning = true;
        // Another connection ends the query. A request that comes before the query has begun is lost: it is repeated.
        const stop = async () => {
          for (; isRunning; await setTimeout(100)) await pool.query('SELECT pg_cancel_backend($1)', [pid]);
        };
        signal.addEventListener('abort', () => void stop().catch(() => {}), { once: true });
        try {
          signal.throwIfAborted();
          return (await connection.query(PAIRS, [of])).rows[0];
        } finally {
          isRunning = false;
          connection.release(signal.aborted); // true closes it, so that a late request cannot hit the next query
        }
      },
    }),
  },
});
