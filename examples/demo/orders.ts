import { tool } from 'fullmcp';
import { z } from 'zod';

const prices: Readonly<Record<string, number>> = { 'ROPE-10': 12.5, 'LAMP-01': 39, 'MAP-100': 9.5 };
const skus = Object.keys(prices) as [string, ...string[]];
let orders = 1040;

/** A tool with all that a form can have: objects in objects, a list of objects, a choice with fields of its own. */
export const placeOrder = tool({
  description: 'Place an order: who gets it, what is in it, and how it is paid',
  input: z.object({
    customer: z.object({
      name: z.string().min(1).max(100),
      email: z.email(),
      address: z.object({
        street: z.string().max(200),
        city: z.string().max(100),
        country: z.enum(['AT', 'DE', 'FR', 'IT', 'NL', 'PL']).default('DE'),
      }),
    }),
    lines: z
      .array(
        z.object({
          sku: z.enum(skus),
          quantity: z.int().min(1).max(99).default(1),
          gift: z.boolean().default(false),
        }),
      )
      .min(1)
      .max(20),
    payment: z.discriminatedUnion('kind', [
      z.object({ kind: z.literal('card'), last4: z.string().regex(/^\d{4}$/, 'the last four digits') }),
      z.object({ kind: z.literal('invoice'), vatId: z.string().max(20).optional() }),
    ]),
    deliverOn: z.iso.date().optional(),
    note: z.string().max(500).optional(),
  }),
  output: z.object({
    order: z.int(),
    total: z.number(),
    lines: z.array(z.object({ sku: z.string(), quantity: z.int(), price: z.number() })),
  }),
  run: ({ lines }) => {
    const priced = lines.map(({ sku, quantity }) => ({
      sku,
      quantity,
      price: (prices[sku] ?? 0) * quantity,
    }));
    return { order: ++orders, total: priced.reduce((sum, { price }) => sum + price, 0), lines: priced };
  },
});
