import { createServer } from 'fullmcp';
import { z } from 'zod';

export default createServer({
  name: 'guide-methods',
  version: '1.0.0',
  // #region methods
  methods: {
    'acme/search': {
      params: z.object({ query: z.string() }),
      run: ({ query }) => ({ hits: [`Something about ${String(query)}`] }),
    },
  },
  // #endregion
});
