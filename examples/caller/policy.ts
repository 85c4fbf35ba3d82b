import { createServer, tool } from 'fullmcp';
import { policy } from 'fullmcp/middleware';
import { z } from 'zod';

const balances = new Map([
  ['ada', 900],
  ['eve', 10],
]);
const account = z.enum(['ada', 'eve']);

export const server = createServer({
  name: 'bank',
  version: '1.0.0',
  access: policy({
    // A call that no rule applies to is refused.
    default: 'deny',
    rules: [
      { effect: 'allow', annotations: { readOnly: true } },
      { effect: 'allow', tools: 'transfer', caller: 'authenticated' },
      {
        effect: 'approve',
        tools: 'transfer',
        input: ({ amount }: { amount: number }) => amount > 100,
        question: 'Transfers of more than 100 need a person.',
      },
      { effect: 'deny', tools: 'transfer', caller: (auth) => auth?.claims['role'] === 'intern' },
    ],
  }),
  tools: {
    balance: tool({
      annotations: { readOnly: true },
      input: z.object({ of: account }),
      run: ({ of }) => balances.get(of),
    }),
    transfer: tool({
      input: z.object({ from: account, to: account, amount: z.number().positive() }),
      run({ from, to, amount }) {
        balances.set(from, (balances.get(from) ?? 0) - amount);
        balances.set(to, (balances.get(to) ?? 0) + amount);
        return `Transferred ${amount} to ${to}`;
      },
    }),
    close_bank: tool({ run: () => balances.clear() }),
  },
});
