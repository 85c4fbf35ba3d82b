// A server whose tool has an app. Hosts without apps get the text.
import { createServer, tool } from 'fullmcp';
import { apps, withApp } from 'fullmcp/apps';
import { z } from 'zod';
import { chart } from './chart.js';

function salesOf(year: number): { year: number; months: number[] } {
  return { year, months: Array.from({ length: 12 }, (_, month) => ((year * 7 + month * 11) % 40) + 5) };
}

// #region server
const input = z.object({ year: z.int().min(2000).max(2100) });

export const server = createServer({
  name: 'sales',
  version: '1.0.0',
  tools: {
    sales: withApp(
      tool({
        description: 'Sales of a year, by month',
        input,
        run({ year }) {
          const sales = salesOf(year);
          const text = `Sales of ${year} by month: ${sales.months.join(', ')}.`;
          return { content: [{ type: 'text', text }], structuredContent: sales };
        },
      }),
      chart,
    ),
    sales_data: withApp(tool({ input, run: ({ year }) => salesOf(year) }), chart, { visibility: ['app'] }),
  },
  extensions: [apps(chart)],
});
// #endregion
