/**
 * Makes the anchors of a page's headings, one after the other, as GitHub does: a repeated heading gets a number.
 * @returns {(heading: string) => string}
 */
export function slugger() {
  /** @type {Map<string, number>} */
  const counts = new Map();
  return (heading) => {
    const slug = heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-');
    const times = counts.get(slug) ?? 0;
    counts.set(slug, times + 1);
    return times === 0 ? slug : `${slug}-${times}`;
  };
}
