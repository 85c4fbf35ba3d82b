/**
 * The singular of an English word in lower case, so that "invoices" finds `invoice`. Other endings are left alone: measured on the
 * questions in `test/unit/protocol/search`, removing them found fewer tools, because `deploy` and `deployment` are often different things.
 */
export function singular(word: string): string {
  if (word.length < 4 || !word.endsWith('s')) return word;
  if (word.endsWith('ss') || word.endsWith('us') || word.endsWith('is')) return word;
  if (word.endsWith('ies')) return word.length > 4 ? `${word.slice(0, -3)}y` : word;
  return /(?:ss|x|ch|sh|zz)es$/.test(word) ? word.slice(0, -2) : word.slice(0, -1);
}
