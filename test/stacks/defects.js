// Defects that the random stacks must find. Each is put back into the sources while they are bundled, alone.

/**
 * @typedef {object} Defect
 * @property {string} name
 * @property {string} file The source that it is in.
 * @property {string} find The text that mends it, which is in the file once.
 * @property {string} put The text that takes its place.
 */

/** @type {readonly Defect[]} */
export const defects = [
  {
    name: 'routing uses a resource that pins hold back',
    file: 'src/connect/gateway/screen.ts',
    find: "if (listed?.accepted[kind]?.has(name)) return 'listed';",
    put: "if ((kind === 'resources' ? listed?.all : listed?.accepted)?.[kind]?.has(name)) return 'listed';",
  },
  {
    name: 'a cache of a gateway answers before its rule',
    file: 'src/connect/gateway/make-gateway.ts',
    find: 'isOpenToAll ? compose(use, dispatch) : composeChecked(use, dispatch, checkLoaded)',
    put: 'compose(use, dispatch)',
  },
  {
    name: 'callers of a proxy share their idempotency keys',
    file: 'src/connect/proxy/caller-tags.ts',
    find: 'const bound = digest([principalOf(call), key]);',
    put: 'const bound = key;',
  },
  {
    name: 'a replay calls tools that a server with search does not list',
    file: 'src/tooling/tape/replay-calls.ts',
    find: 'if (now === undefined) return NOT_LISTED;',
    put: 'if (now === undefined) continue;',
  },
  {
    name: 'rateLimit keeps invented names in full',
    file: 'src/middleware/facts/call-groups.ts',
    find: "typeof name === 'string' ? groupKey(name) : name",
    put: 'name',
  },
  {
    name: 'a hidden tool takes the calls of a visible one',
    file: 'src/connect/routing/names.ts',
    find: "inOrder.find((_, at) => offers[at] === 'listed')",
    put: "inOrder.find((_, at) => offers[at] === 'listed' || offers[at] === 'never')",
  },
  {
    name: 'a proxy takes the state of a proxy behind it for its own',
    file: 'src/connect/proxy/caller-tags.ts',
    find: '{ ...outcome, requestState: BEHIND + requestState }',
    put: 'outcome',
  },
  {
    name: 'elicit.url gets addresses that run code',
    file: 'src/client/answering/answer-with.ts',
    find: "isShort(params['url']) ? webUrl(params['url']) : undefined",
    put: "{ href: String(params['url']) }",
  },
  {
    name: 'one caller takes all connections of a proxy',
    file: 'src/connect/proxy/fair-share.ts',
    find: 'return Math.max(1, Math.ceil((max - others) / 2));',
    put: 'return max;',
  },
  {
    name: 'a removed step is noticed after the effects of the next one',
    file: 'src/server/asking/replay.ts',
    find: 'if (this.#state.keyBefore(key) !== undefined) await this.#hold(key);',
    put: '',
  },
];

/**
 * Puts a defect back into the code of a source. Returns undefined for all other sources.
 * @param {Defect} defect
 * @param {string} code
 * @param {string} id
 */
export function putBack({ name, file, find, put }, code, id) {
  if (!id.endsWith(`/${file}`)) return undefined;
  const [before, after, ...more] = code.split(find);
  if (before === undefined || after === undefined || more.length > 0)
    throw new Error(
      `"${name}" cannot be put back, because the text that mends it is not in ${file} once: ${find}`,
    );
  return `${before}${put}${after}`;
}
