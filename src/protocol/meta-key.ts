// The format of keys in `_meta`. Spec 2026-07-28, Base Protocol, `_meta`.

/** Names without a prefix that the protocol itself uses. */
const reserved = new Set(['progressToken', 'traceparent', 'tracestate', 'baggage']);

/** The reason why a `_meta` key is not valid; undefined for a valid one. */
export function metaKeyProblem(key: string): string | undefined {
  const slash = key.indexOf('/');
  const name = key.slice(slash + 1);
  if (slash !== -1 && !key.slice(0, slash).split('.').every(isLabel)) {
    return 'the part before "/" must be labels of letters, digits and hyphens, separated by dots';
  }
  if (slash === -1 && reserved.has(name)) return 'the protocol uses this key itself';
  if (name !== '' && !isName(name)) {
    return 'the name must begin and end with a letter or digit, with "-", "_" and "." between';
  }
  return undefined;
}

function isLabel(label: string): boolean {
  return /^[A-Za-z]$|^[A-Za-z][A-Za-z0-9-]*[A-Za-z0-9]$/.test(label);
}

function isName(name: string): boolean {
  return /^[A-Za-z0-9]$|^[A-Za-z0-9][A-Za-z0-9._-]*[A-Za-z0-9]$/.test(name);
}
