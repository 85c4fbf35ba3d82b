// The index of the site's search, which is built with the site and searched in the browser, without a server.
import { addressOf, asks, pageOf } from './pages.js';
import { processTerm } from './ranking.js';

/** The changelog has every word. */
const LEFT_OUT = new Set(['changelog.md']);

/** The options of VitePress. The theme adds the ranking, because functions with tables cannot be sent to the browser. */
export const search = {
  provider: /** @type {const} */ ('local'),
  options: { detailedView: false, asks, miniSearch: { options: { processTerm } }, _render: renderForSearch },
};

/**
 * A page as the index reads it: with the words that people use below its title.
 * @param {string} text @param {{ relativePath: string }} env @param {{ renderAsync: (text: string, env: object) => Promise<string> }} md
 */
async function renderForSearch(text, env, md) {
  const page = pageOf.get(env.relativePath) ?? env.relativePath;
  if (LEFT_OUT.has(page)) return '';
  const html = await md.renderAsync(text, { ...env, forSearch: true });
  const words = asks[addressOf(page)];
  return words === undefined ? html : html.replace('</h1>', `</h1><p>${words}</p>`);
}
