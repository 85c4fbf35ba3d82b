const OLDEST_NODE = 20;

/** Throws a clear error if Node is too old. Bun and Deno report a recent Node. */
export function checkRuntime(versions: { readonly node?: string | undefined } | undefined): void {
  const { node } = versions ?? {};
  if (node !== undefined && Number.parseInt(node, 10) < OLDEST_NODE)
    throw new Error(`fullmcp needs Node ${OLDEST_NODE} or newer; this is Node ${node}.`);
}
