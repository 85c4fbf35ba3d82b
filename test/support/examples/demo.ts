type Demo = typeof import('../../../examples/demo/server.js').default;

let made = 0;

/** A demo of the caller's own. Files share their process, and a server that one of them has closed or added notes to is not as it began. */
export async function ownDemo(): Promise<Demo> {
  const module = `../../../examples/demo/server.ts?${made++}`;
  return ((await import(/* @vite-ignore */ module)) as { readonly default: Demo }).default;
}
