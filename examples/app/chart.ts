// An app: a page with a chart, which hosts show for the results of tools.
import { app, appPage } from 'fullmcp/apps';

// #region app
export const chart = app({
  uri: 'ui://sales/chart',
  title: 'Sales chart',
  prefersBorder: true,
  html: appPage({
    title: 'Sales',
    lang: 'en',
    style: `
      body { margin: 0; padding: 1rem; font: 14px var(--font-sans, sans-serif); color: var(--color-text-primary, currentcolor); }
      svg { display: block; width: 100%; height: 160px; }
      rect { fill: var(--color-background-info, #36c); }`,
    body: '<h1>Sales</h1><svg viewBox="0 0 120 50" preserveAspectRatio="none"></svg><button>Next year</button>',
    script: `
      let year;
      const host = await connectToHost({
        onInput: (input) => { document.querySelector('h1').textContent = 'Sales of ' + input.year; },
        onResult: (result) => draw(result.structuredContent),
      });

      function draw(sales) {
        year = sales.year;
        document.querySelector('h1').textContent = 'Sales of ' + year;
        const bars = sales.months.map((value, month) => {
          const bar = document.createElementNS('http://www.w3.org/2000/svg', 'rect');
          const place = { x: month * 10 + 1, y: 50 - value, width: 8, height: value };
          for (const [name, number] of Object.entries(place)) bar.setAttribute(name, number);
          return bar;
        });
        document.querySelector('svg').replaceChildren(...bars);
      }

      document.querySelector('button').onclick = async () => {
        const result = await host.callTool('sales_data', { year: year + 1 });
        draw(result.structuredContent);
        const content = [{ type: 'text', text: 'The user looks at the sales of ' + year + '.' }];
        if (host.capabilities.updateModelContext) await host.updateModelContext({ content });
      };`,
  }),
});
// #endregion
