/**
 * Makes the anchors of a page's headings as GitHub makes them, one after the other: a heading that comes twice gets a number.
 * @returns {(heading: string) => string}
 */
export function slugger() {
  /** @type {Map<string, number>} */
  const seen = new Map();
  return (heading) => {
    const slug = heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-');
    const times = seen.get(slug) ?? 0;
    seen.set(slug, times + 1);
    return times === 0 ? slug : `${slug}-${times}`;
  };
}
