// The oldest Node that the package runs on. The command loads this file before any other, so it imports nothing, and has no syntax
// that an older Node cannot read.

/** As `engines` in package.json says. CommonJS can `require` the package from this version on. */
const OLDEST_NODE = [20, 19];

/** Throws a clear error if Node is too old. Other runtimes report the version of Node that they imitate, and are not checked. */
export function checkRuntime(
  versions: { readonly [part: string]: string | undefined } | undefined = globalThis.process?.versions,
): void {
  const { node, bun, deno } = versions ?? {};
  if (node === undefined || bun !== undefined || deno !== undefined) return;
  const [oldestMajor = 0, oldestMinor = 0] = OLDEST_NODE;
  const [major = 0, minor = 0] = node.split('.').map(Number);
  if (major < oldestMajor || (major === oldestMajor && minor < oldestMinor))
    throw new Error(`fullmcp needs Node ${OLDEST_NODE.join('.')} or newer; this is Node ${node}.`);
}
