import { createServer, tool } from 'fullmcp';
import { connect } from 'fullmcp/client';
import { telemetry } from 'fullmcp/otel';
import { z } from 'zod';

const weather = createServer({
  name: 'weather',
  version: '1.0.0',
  use: [telemetry()],
  tools: { now: tool({ input: z.object({ city: z.string() }), run: ({ city }) => `${city}: sunny` }) },
});

// #region server
export const server = createServer({
  name: 'travel',
  version: '1.0.0',
  // First, so that it also sees the calls that other middleware refuses.
  use: [telemetry()],
  tools: {
    plan: tool({
      input: z.object({ city: z.string() }),
      async run({ city }) {
        // This call is a child of the call that runs the tool, and the other server is in the same trace.
        await using client = await connect(weather, { use: [telemetry()] });
        return (await client.callTool('now', { city })).text;
      },
    }),
  },
});
// #endregion
