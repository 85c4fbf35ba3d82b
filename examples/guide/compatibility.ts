import { createServer, tool } from 'fullmcp';

const tools = { answer: tool({ run: () => 42 }) };

// #region date
/** Keeps the defaults of this day when fullmcp is upgraded. */
export const pinned = createServer({
  name: 'shop',
  version: '1.0.0',
  compatibility: '2026-11-16',
  tools,
});
// #endregion

// #region single
/** Sends plain values as structured content, too, as before. */
export const switched = createServer({
  name: 'shop',
  version: '1.0.0',
  compatibility: { date: '2026-11-16', off: ['plain-values-as-text'] },
  deprecations: 'error',
  tools,
});
// #endregion
