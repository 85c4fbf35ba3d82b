import { postgres } from 'fullmcp/postgres';
import { test } from 'vitest';
import { describeWithPostgres, freshSchema } from '../../../support/engines/postgres.js';
import { eventHistoryCases } from '../../../support/event-history-cases.js';

describeWithPostgres('The log of events on Postgres', (server) => {
  const schema = freshSchema();
  for (const [name, run] of Object.entries(eventHistoryCases))
    test(name, async () => {
      const [first, second] = [
        postgres({ url: server().url, schema }),
        postgres({ url: server().url, schema }),
      ];
      try {
        await run({ store: first.store, other: second.store });
      } finally {
        await Promise.all([first.close(), second.close()]);
      }
    });
});
