// Events that only some callers get.

import { createServer, event } from 'fullmcp';
import { z } from 'zod';

export const server = createServer({
  name: 'payroll',
  version: '1.0.0',
  events: {
    // #region guarded
    salary_changed: event({
      input: z.object({ department: z.string() }),
      payload: z.object({ department: z.string(), employee: z.string() }),
      scopes: ['payroll:read'],
      allow: (auth, args) => args === undefined || auth?.claims['department'] === args.department,
      match: (change, { department }) => change.department === department,
    }),
    // #endregion
  },
});
