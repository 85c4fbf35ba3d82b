// Patterns for the names of tools, in which `*` stands for any characters.

/** Whether a name of a rule stands for several tools. */
export function isPattern(pattern: string): boolean {
  return pattern.includes('*');
}

/** Whether a pattern matches a name. Takes the first place for each part, which is enough, so it never tries again. */
export function matchesPattern(pattern: string, name: string): boolean {
  const [first = '', ...rest] = pattern.split('*');
  if (rest.length === 0) return pattern === name;
  const last = rest.pop() ?? '';
  if (!name.startsWith(first)) return false;
  let at = first.length;
  for (const part of rest) {
    const found = name.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return name.length - last.length >= at && name.endsWith(last);
}
