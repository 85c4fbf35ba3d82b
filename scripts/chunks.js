// Puts modules that are loaded together into one file. A bundler splits by which entries reach a module; with thirty entries that makes
// dozens of tiny files, and Node takes longer to find and open one than to read what is in it.

/** The cost of one more file, as the bytes that are read in the same time. */
const FILE_BYTES = 6_000;

/** A program's start counts as often as this many parts that it loads later. */
const START_WEIGHT = 10;

/** Entries that load nothing at their start that they do not need. */
const EXACT = ['index', 'http', 'client-web', 'cli/fullmcp'];

/** The entries that programs import together. Parts that are loaded later come on top of these. */
const PROGRAMS = [
  ...EXACT.map((entry) => [entry]),
  ['index', 'stdio'],
  ['index', 'node'],
  ['index', 'node', 'auth', 'middleware'],
  ['index', 'http'],
  ['index', 'testing'],
  ['client'],
  ['client', 'oauth'],
  ['client', 'tools'],
  ['client', 'middleware'],
  ['client', 'websocket'],
  ['apps'],
  ['events'],
  ['client', 'events'],
  ['extension'],
  ['gateway'],
  ['proxy'],
];

/** @typedef {import('rolldown').OutputChunk} Chunk */
/** @typedef {{ chunks: Chunk[], bytes: number, loads: Uint32Array, place: string, isFixed: boolean }} Cluster */

/**
 * The groups of modules that should be one file each, from a bundle that was split by entries alone: lists of module ids. Two files
 * become one if that saves more than the programs lose that need only one of them. A file that imports a package or a part of Node, now
 * or later, is never loaded by a program that does not need it.
 * @param {readonly Chunk[]} chunks
 * @returns {{ name: string, moduleIds: Set<string> }[]}
 */
export function groupsOf(chunks) {
  const byName = new Map(chunks.map((chunk) => [chunk.fileName, chunk]));
  const exact = EXACT.map((entry) => reached([`${entry}.js`], byName, false));
  const loads = PROGRAMS.flatMap((entries) => loadsOf(entries, byName));
  const clusters = chunks.filter(isMovable).flatMap((chunk) => {
    const mask = new Uint32Array(Math.ceil(loads.length / 32));
    loads.forEach((load, index) => {
      if (load.has(chunk.fileName)) mask[index >> 5] |= 1 << (index & 31);
    });
    const isFixed = chunk.dynamicImports.length > 0 || chunk.imports.some((name) => !byName.has(name));
    if (!mask.some(Boolean)) return [];
    const place = exact.map((load) => load.has(chunk.fileName)).join();
    return [{ chunks: [chunk], bytes: chunk.code.length, loads: mask, place, isFixed }];
  });
  mergeAll(clusters, byName);
  return clusters
    .filter((cluster) => cluster.chunks.length > 1)
    .map((cluster) => ({
      name: cluster.chunks.reduce((a, b) => (b.code.length > a.code.length ? b : a)).name,
      moduleIds: new Set(cluster.chunks.flatMap(({ moduleIds }) => moduleIds)),
    }));
}

/** Entries stay as they are, and the command is apart. @param {Chunk} chunk */
function isMovable({ isEntry, moduleIds }) {
  return !isEntry && !moduleIds.some((id) => /\/modules\/(?:cli|inspector)\//.test(id));
}

/**
 * The files that a program loads at its start, and with each part that it loads later.
 * @param {readonly string[]} entries @param {Map<string, Chunk>} byName
 */
function loadsOf(entries, byName) {
  const names = entries.map((entry) => `${entry}.js`);
  const start = reached(names, byName, false);
  const later = [...reached(names, byName, true)].filter((name) => byName.get(name)?.isDynamicEntry);
  return [
    ...Array(START_WEIGHT).fill(start),
    ...later.map((name) => new Set([...start, ...reached([name], byName, false)])),
  ];
}

/** @param {string[]} names @param {Map<string, Chunk>} byName @param {boolean} isDynamicToo */
function reached(names, byName, isDynamicToo) {
  /** @type {Set<string>} */
  const seen = new Set();
  const open = [...names];
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    const chunk = byName.get(name);
    if (chunk === undefined || seen.has(name)) continue;
    seen.add(name);
    open.push(...chunk.imports, ...(isDynamicToo ? chunk.dynamicImports : []));
  }
  return seen;
}

/**
 * Merges the best pair until no pair is worth it.
 * @param {Cluster[]} clusters @param {Map<string, Chunk>} byName
 */
function mergeAll(clusters, byName) {
  let pairs = clusters.flatMap((a, index) => worthwhile(a, clusters.slice(index + 1)));
  for (;;) {
    pairs.sort((x, y) => y.gain - x.gain);
    const best = pairs.find(({ a, b }) => !makesCircle(a, b, clusters, byName));
    if (best === undefined) return;
    const { a, b } = best;
    clusters.splice(clusters.indexOf(b), 1);
    a.chunks.push(...b.chunks);
    a.bytes += b.bytes;
    a.loads = a.loads.map((word, index) => word | /** @type {number} */ (b.loads[index]));
    a.isFixed ||= b.isFixed;
    const others = clusters.filter((other) => other !== a);
    const untouched = pairs.filter((pair) => ![pair.a, pair.b].some((one) => one === a || one === b));
    pairs = [...untouched, ...worthwhile(a, others)];
  }
}

/** @param {Cluster} a @param {readonly Cluster[]} others */
function worthwhile(a, others) {
  return others.map((b) => ({ a, b, gain: gainOf(a, b) })).filter(({ gain }) => gain > 0);
}

/** @param {Cluster} a @param {Cluster} b */
function gainOf(a, b) {
  if (a.place !== b.place) return 0;
  let [both, onlyA, onlyB] = [0, 0, 0];
  for (const [index, word] of a.loads.entries()) {
    const other = /** @type {number} */ (b.loads[index]);
    both += ones(word & other);
    onlyA += ones(word & ~other);
    onlyB += ones(other & ~word);
  }
  if ((a.isFixed && onlyB > 0) || (b.isFixed && onlyA > 0)) return 0;
  return both * FILE_BYTES - onlyA * b.bytes - onlyB * a.bytes;
}

/** @param {number} word */
function ones(word) {
  let count = 0;
  for (let rest = word; rest !== 0; rest &= rest - 1) count++;
  return count;
}

/**
 * Whether a file of both would import, by way of another file, itself.
 * @param {Cluster} a @param {Cluster} b @param {readonly Cluster[]} clusters @param {Map<string, Chunk>} byName
 */
function makesCircle(a, b, clusters, byName) {
  /** @type {Map<string, Chunk[]>} */
  const fileOf = new Map();
  for (const { chunks } of clusters) for (const { fileName } of chunks) fileOf.set(fileName, chunks);
  const own = new Set([...a.chunks, ...b.chunks].map(({ fileName }) => fileName));
  const seen = new Set();
  const open = [...own].flatMap((name) => byName.get(name)?.imports ?? []).filter((name) => !own.has(name));
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (own.has(name)) return true;
    const chunk = byName.get(name);
    if (chunk === undefined || seen.has(name)) continue;
    const file = fileOf.get(name) ?? [chunk];
    for (const { fileName, imports } of file) {
      seen.add(fileName);
      open.push(...imports.filter((other) => !seen.has(other)));
    }
  }
  return false;
}
