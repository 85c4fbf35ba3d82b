import { tool } from 'fullmcp';
import { z } from 'zod';
import { cloud } from './cloud.js';

// #region schemas
const size = z.object({ size: z.enum(['small', 'large']) });
const sure = z.object({ sure: z.boolean() });
// #endregion

// #region trap
export const wrong = tool({
  description: 'Start an app. WRONG: this creates two machines.',
  input: z.object({ app: z.string() }),
  run: async ({ app }, ctx) => {
    const machine = await cloud.create(app, 'small'); // runs before the answer, and again after it
    await ctx.ask('sure', { message: `Go live with ${app}?`, schema: sure });
    return cloud.publish(machine.id);
  },
});

export const right = tool({
  description: 'Start an app. Right: one machine, however often this runs.',
  input: z.object({ app: z.string() }),
  run: async ({ app }, ctx) => {
    const machine = await ctx.step('create', () => cloud.create(app, 'small'));
    await ctx.ask('sure', { message: `Go live with ${app}?`, schema: sure });
    return cloud.publish(machine.id);
  },
});
// #endregion

// #region deploy
export const deploy = tool({
  description: 'Start an app on a machine of its own',
  input: z.object({ app: z.string() }),
  run: async ({ app }, ctx) => {
    const { size: machineSize } = await ctx.ask('size', { message: `How big is ${app}?`, schema: size });
    const machine = await ctx.step('create', ({ idempotencyKey }) =>
      cloud.create(app, machineSize, idempotencyKey),
    );
    const live = await ctx.elicit('sure', { message: `Go live with ${machine.id}?`, schema: sure });
    if (live.action === 'accept' && live.content.sure) {
      return ctx.step('publish', () => cloud.publish(machine.id));
    }
    await ctx.step('remove', () => cloud.remove(machine.id));
    return 'Not deployed. The machine was removed.';
  },
});
// #endregion
