// The paths of a server that is served as a REST API.

/** The thing that a path leads to. */
export type RestTarget =
  | { readonly kind: 'tool' | 'prompt'; readonly name: string }
  | { readonly kind: 'resource' }
  | { readonly kind: 'document' };

/** The target of a path; undefined if nothing is served there. Without a prefix, a router has mounted the handler at any path. */
export function targetOf(path: string, prefix: string | undefined): RestTarget | undefined {
  if (prefix !== undefined && !path.startsWith(`${prefix}/`)) return undefined;
  const parts = (prefix === undefined ? path : path.slice(prefix.length)).split('/');
  if (prefix !== undefined && parts.length > 3) return undefined;
  const last = parts.at(-1) ?? '';
  const parent = parts.at(-2);
  const kind = parent === 'tools' ? 'tool' : parent === 'prompts' ? 'prompt' : undefined;
  if (kind !== undefined) {
    const name = decode(last);
    return name === undefined || name === '' ? undefined : { kind, name };
  }
  if (prefix !== undefined && parts.length !== 2) return undefined;
  if (last === 'resources') return { kind: 'resource' };
  return last === 'openapi.json' ? { kind: 'document' } : undefined;
}

/** The path of a tool or a prompt; undefined if URLs cannot have one with this name. */
export function pathOf(kind: 'tool' | 'prompt', name: string): string | undefined {
  if (name === '.' || name === '..' || name === '' || /\p{Surrogate}/u.test(name)) return undefined;
  return `/${kind}s/${encodeURIComponent(name)}`;
}

function decode(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}
