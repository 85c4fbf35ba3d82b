import { randomUUID } from 'node:crypto';
import process from 'node:process';
import { setTimeout } from 'node:timers/promises';
import express from 'express';
import { createServer, ToolError, tool } from 'fullmcp';
import { createNodeHandler } from 'fullmcp/node';

const origin = process.env['ORIGIN'] ?? 'http://localhost:3000';
const paid = new Set<string>(); // with several processes: a table that all of them read

const server = createServer({
  name: 'shop',
  version: '1.0.0',
  tools: {
    pay: tool({
      description: 'Let the user pay for the cart in the browser',
      async run(_input, ctx) {
        const id = await ctx.step('begin', () => randomUUID());
        const visit = await ctx.elicit('visit', { message: 'Pay for the cart', url: `${origin}/pay/${id}` });
        if (visit.action !== 'accept') return 'The user does not want to pay.';
        // "accept" says that the page was opened. The user may need a while there.
        for (let waited = 0; !paid.has(id); waited++) {
          if (waited === 600) throw new ToolError('The user has not paid within two minutes.');
          await setTimeout(200, undefined, { signal: ctx.signal });
        }
        return 'Paid';
      },
    }),
  },
});

export const app = express();
app.use('/mcp', createNodeHandler(server));
app.get('/pay/:id', (_req, res) => void res.send('<form method="post"><button>Pay</button></form>'));
app.post('/pay/:id', (req, res) => {
  paid.add(req.params.id);
  res.send('Thank you. You can close this page.');
});
if (process.env['PORT'] !== undefined) app.listen(Number(process.env['PORT']), '127.0.0.1');
