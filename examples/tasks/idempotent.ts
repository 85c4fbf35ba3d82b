import { createServer, tool } from 'fullmcp';
import { z } from 'zod';

export const paid: number[] = [];

// #region pay
const pay = tool({
  description: 'Pay an invoice',
  input: z.object({ invoice: z.int() }),
  idempotency: { windowMs: 24 * 3_600_000 },
  run: ({ invoice }) => {
    paid.push(invoice);
    return `Invoice ${invoice} is paid`;
  },
});
// #endregion

export default createServer({ name: 'bank', version: '1.0.0', tools: { pay } });
