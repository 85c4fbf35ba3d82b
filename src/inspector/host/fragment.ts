// The part of an address that says what the page shows first. It never leaves the browser.

/** The address of a tool with values for its form, as in `#/tools/add?a=2`; empty without a tool. */
export function fragmentOf(tool: string | undefined, values: readonly (readonly [string, string])[]): string {
  if (tool === undefined) return '';
  const query = new URLSearchParams(values.map(([name, value]) => [name, value])).toString();
  return `#/tools/${encodeURIComponent(tool)}${query && `?${query}`}`;
}
