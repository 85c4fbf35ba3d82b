// Parts of Markdown that the checks, the generated pages and the site share.

/** The line above a block whose text is a file, or a region of one. */
export const SNIPPET = /^<!-- snippet: ([^#\s]+)(?:#(\S+))? -->$/;
const REGION = /^\s*\/\/ #region (\S+)\s*$/;
const END_REGION = /^\s*\/\/ #endregion\b/;

/**
 * The lines of a program, or of one of its regions, without their common indent and without the marks of regions; or why there are none.
 * @param {string} program @param {string | undefined} region
 * @returns {string[] | string}
 */
export function regionOf(program, region) {
  /** @type {string[]} */
  const open = [];
  /** @type {string[]} */
  const body = [];
  let found = region === undefined;
  for (const line of program.trimEnd().split('\n')) {
    const start = REGION.exec(line)?.[1];
    if (start !== undefined) open.push(start);
    else if (END_REGION.test(line)) open.pop();
    else if (region === undefined || open.includes(region)) body.push(line);
    found ||= start === region;
  }
  if (!found) return `has no line "// #region ${region}". Add it and its // #endregion.`;
  if (open.length > 0) return `has the region ${open.at(-1)}, which never ends. Add // #endregion.`;
  const indents = body
    .filter((line) => line.trim() !== '')
    .map((line) => line.length - line.trimStart().length);
  const indent = Math.min(...indents);
  return body.map((line) => line.slice(indent));
}

/** The anchor of a heading, as GitHub makes it. @param {string} heading */
export function slugOf(heading) {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_ -]/gu, '')
    .replaceAll(' ', '-');
}

/**
 * Makes the anchors of a page's headings, one after the other, as GitHub does: a repeated heading gets a number.
 * @returns {(heading: string) => string}
 */
export function slugger() {
  /** @type {Map<string, number>} */
  const counts = new Map();
  return (heading) => {
    const slug = slugOf(heading);
    const times = counts.get(slug) ?? 0;
    counts.set(slug, times + 1);
    return times === 0 ? slug : `${slug}-${times}`;
  };
}
