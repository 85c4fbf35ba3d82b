// Our mark, and the lines above and below a page.
import { useData, withBase } from 'vitepress';
import { computed, defineComponent, h, ref } from 'vue';

export const Mark = () =>
  h('svg', { class: 'mark', viewBox: '0 0 16 16', width: 22, height: 22, 'aria-hidden': 'true' }, [
    h('path', { d: 'M10 .254A8 8 0 0 0 4 14.928V7h6zM6 15.746A8 8 0 0 0 12 1.072V9H6z' }),
  ]);

export const Version = defineComponent({
  setup() {
    const { theme } = useData();
    return () => h('span', { class: 'version' }, theme.value.project.version);
  },
});

/** Where the page stands, and its Markdown. */
export const PageHead = defineComponent({
  setup() {
    const { page, theme } = useData();
    const place = computed(() =>
      placeOf(theme.value.bars, `/${page.value.relativePath.replace(/\.md$/, '')}`),
    );
    const state = ref('Copy page');
    const copy = async () => {
      state.value = await copyText(markdownUrl(page.value.relativePath)).then(
        () => 'Copied',
        () => 'Not copied',
      );
      setTimeout(() => {
        state.value = 'Copy page';
      }, 2000);
    };
    return () =>
      h('nav', { class: 'page-head', 'aria-label': 'This page' }, [
        h('p', { class: 'place' }, place.value),
        h('div', { class: 'page-markdown' }, [
          h(
            'button',
            { type: 'button', class: 'copy-page', title: 'Copy this page as Markdown', onClick: copy },
            h('span', { 'aria-live': 'polite' }, state.value),
          ),
          h(
            'a',
            {
              href: markdownUrl(page.value.relativePath),
              target: '_self',
              rel: 'alternate',
              type: 'text/markdown',
            },
            'Markdown',
          ),
        ]),
      ]);
  },
});

/** Which file the page is, how to change it, and which version it describes. */
export const PageFoot = defineComponent({
  setup() {
    const { frontmatter, theme } = useData();
    return () => {
      const { file, script } = frontmatter.value.origin ?? {};
      const { version, commit, day, edit } = theme.value.project;
      const source = script ?? file;
      const words = script === undefined ? 'Edit this page' : 'Edit the script that writes this page';
      return h('div', { class: 'page-foot' }, [
        h('p', { class: 'edit' }, [
          edit === '' ? `${words}: ` : h('a', { href: `${edit}${source}` }, words),
          edit === '' ? h('code', source) : null,
        ]),
        h(
          'p',
          { class: 'version-line' },
          `fullmcp ${version}${commit ? ` · commit ${commit} · ${day}` : ''}`,
        ),
      ]);
    };
  },
});

/** @param {readonly { name: string, groups: readonly { text: string, items: readonly { link: string }[] }[] }[]} bars @param {string} path */
function placeOf(bars, path) {
  for (const { name, groups } of bars) {
    const group = groups.find(({ items }) => items.some(({ link }) => link === path));
    if (group) return group.text === name ? name : `${name} › ${group.text}`;
  }
  return '';
}

/** @param {string} page */
function markdownUrl(page) {
  return withBase(`/${page}`);
}

/** The text is still on its way when the clipboard is opened, because a browser allows that only while the click is handled. @param {string} url */
async function copyText(url) {
  const text = fetch(url, { headers: { accept: 'text/markdown' } }).then((response) => {
    if (!response.ok) throw new Error(`${url} was answered with ${response.status}.`);
    return response.text();
  });
  if (typeof ClipboardItem === 'undefined') return navigator.clipboard.writeText(await text);
  const blob = text.then((whole) => new Blob([whole], { type: 'text/plain' }));
  return navigator.clipboard.write([new ClipboardItem({ 'text/plain': blob })]);
}
