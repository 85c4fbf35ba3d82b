// The look of the site: the theme of VitePress with our mark, our font, our colours, and the lines above and below a page.
import { onContentUpdated } from 'vitepress';
import theme from 'vitepress/theme-without-fonts';
import { h } from 'vue';
import { ranking } from '../../ranking.js';
import { followChoices } from './choices.js';
import { Mark, PageFoot, PageHead, Version } from './parts.js';
import './style.css';

/** @type {import('vitepress').Theme} */
export default {
  extends: theme,
  Layout: {
    name: 'SiteLayout',
    setup() {
      followChoices(onContentUpdated);
      return () =>
        h(theme.Layout, null, {
          'nav-bar-title-before': () => h(Mark),
          'nav-bar-title-after': () => h(Version),
          'doc-before': () => h(PageHead),
          'doc-footer-before': () => h(PageFoot),
        });
    },
  },
  enhanceApp({ siteData }) {
    const { themeConfig } = siteData.value;
    const { asks, ...options } = themeConfig.search.options;
    siteData.value = {
      ...siteData.value,
      themeConfig: {
        ...themeConfig,
        sidebar: sidebarOf(themeConfig.bars),
        search: { ...themeConfig.search, options: { asks, ...options, miniSearch: ranking(asks) } },
      },
    };
  },
};

/**
 * The bar of each page: the groups of its section. A section is sent to the browser once.
 * @param {readonly { groups: readonly { text: string, items: readonly { text: string, link: string }[] }[] }[]} bars
 */
function sidebarOf(bars) {
  return Object.fromEntries(
    bars.flatMap(({ groups }) =>
      groups.flatMap(({ items }) => items.map(({ link }) => [`${link}.md`, groups])),
    ),
  );
}
