// The search box of VitePress, with roles that a screen reader understands: a dialog, a field with a list, and options that are links.

const CHANGES = /** @type {const} */ ([
  [
    /role="button"\s+:aria-owns="[^"]*"\s+aria-expanded="true"\s+aria-haspopup="listbox"\s+aria-labelledby="localsearch-label"/,
    'role="dialog" aria-modal="true" aria-label="Search"',
  ],
  [
    'aria-autocomplete="both"',
    'role="combobox" aria-autocomplete="list" :aria-expanded="results?.length ? \'true\' : \'false\'"',
  ],
  [/:aria-labelledby="results\?\.length \? 'localsearch-label' : undefined"/, 'aria-label="Pages"'],
  [/:id="'localsearch-item-' \+ index"\s+:aria-selected="[^"]*"\s+role="option"/, 'role="presentation"'],
  [
    /:aria-label="\[\.\.\.p\.titles, p\.title\]\.join\(' > '\)"/,
    ':id="\'localsearch-item-\' + index" :aria-selected="selectedIndex === index ? \'true\' : \'false\'" role="option"',
  ],
  ['class="title-icon"', 'class="title-icon" aria-hidden="true"'],
  [/<kbd(?=\s+:aria-label)/g, '<kbd role="img"'],
]);

/** @returns {import('vite').Plugin} */
export function accessibleSearchBox() {
  return {
    name: 'fullmcp:search-box',
    enforce: 'pre',
    transform(code, id) {
      if (!id.endsWith('/VPLocalSearchBox.vue')) return undefined;
      return CHANGES.reduce((text, [from, to]) => {
        const changed = text.replace(from, to);
        if (changed === text)
          throw new Error(`The search box of VitePress has no ${from}. Look at site/search-box.js.`);
        return changed;
      }, code);
    },
  };
}
