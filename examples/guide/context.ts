import { createServer, resource, tool } from 'fullmcp';
import { z } from 'zod';

export default createServer({
  name: 'guide-context',
  version: '1.0.0',
  tools: {
    // #region context
    crawl: tool({
      description: 'Fetch pages, one after the other',
      input: z.object({ urls: z.array(z.url()).max(100) }),
      run: async ({ urls }, { signal, progress, log, logger }) => {
        const sizes: Record<string, number> = {};
        for (const [done, url] of urls.entries()) {
          progress(done, urls.length, url);
          const page = await fetch(url, { signal });
          if (!page.ok) log.warning(`${url} answered ${page.status}`);
          sizes[url] = (await page.text()).length;
        }
        logger.info('Crawled', { pages: urls.length });
        return sizes;
      },
    }),
    // #endregion
    // #region yield
    tell: tool({
      description: 'Tell a story, sentence by sentence',
      input: z.object({ hero: z.string() }),
      async *run({ hero }) {
        yield `${hero} left home. `;
        yield `${hero} met a dragon. `;
        yield `They became friends.`;
      },
    }),
    // #endregion
    // #region client
    who_am_i: tool({
      run: (_input, { client, request }) => ({
        client: client.info?.name ?? 'unknown',
        revision: client.revision,
        language: request?.header('accept-language') ?? 'none, this is not HTTP',
      }),
    }),
    // #endregion
    // #region compose
    summary: tool({
      run: async (_input, { call, read }) => {
        const me = await call('who_am_i');
        const [about] = await read('about://server');
        return { me: me.structuredContent, about };
      },
    }),
    // #endregion
  },
  resources: { 'about://server': resource({ read: () => 'The guide' }) },
});
