// Lists what programs can use: the entries of the package, the names that they export and their options, in docs/stability.md. Each is
// compared with the last release: what came or went since then must be named in CHANGELOG.md.
// --check fails if the page is not what this script writes. --release makes today's names those of the last release.
import { readFileSync, writeFileSync } from 'node:fs';
import ts from 'typescript-5.9';
import { conclude, readManifest, root } from './files.js';
import { isOurs, readPublicTypes } from './public-types.js';

/**
 * The names of each entry, and the options of each type of options.
 * @typedef {{ entries: Record<string, string[]>, options: Record<string, string[]> }} Surface
 */

const PAGE = 'docs/stability.md';
const RELEASE = 'scripts/last-release.json';
const BEGIN = '<!-- From here on, this page is written by scripts/surface.js. -->';

/** Entries, names and options that follow a draft, and change with it. */
const DRAFTS = ['fullmcp/server-card', 'KnownTagsOptions', 'knownTags', 'ServerOptions.drafts'];

process.chdir(root);
const { surface, size } = readSurface();
if (process.argv.includes('--release')) {
  const { version } = readManifest(root);
  const lists = { version, entries: joined(surface.entries), options: joined(surface.options) };
  writeFileSync(RELEASE, `${JSON.stringify(lists, undefined, 2)}\n`);
}
const release = readRelease();
const text = withoutList(readFileSync(PAGE, 'utf8')) + printList();
if (process.argv.includes('--check')) check();
else writeFileSync(PAGE, text);

/** The surface as the types are today, and the number of exports. @returns {{ surface: Surface, size: number }} */
function readSurface() {
  const { checker, entries } = readPublicTypes();
  const original = (/** @type {ts.Symbol} */ symbol) =>
    symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
  const exported = new Set(entries.flatMap(({ exports }) => exports.map(original)));
  const names = entries.map(
    ({ specifier, exports }) => /** @type {const} */ ([specifier, exports.map(({ name }) => name).sort()]),
  );
  const options = reachedFrom(exported, (symbol) => original(symbol), checker).flatMap(optionsOf);
  return {
    surface: {
      entries: Object.fromEntries(names),
      options: Object.fromEntries(options.sort(([a], [b]) => (a < b ? -1 : 1))),
    },
    size: exported.size,
  };
}

/**
 * The declarations of exports, and of all types of ours that these name: options also have types that no entry exports.
 * @param {Iterable<ts.Symbol>} symbols @param {(symbol: ts.Symbol) => ts.Symbol} original @param {ts.TypeChecker} checker
 */
function reachedFrom(symbols, original, checker) {
  const seen = new Set(symbols);
  /** @param {ts.Node} node */
  const visit = (node) => {
    const name = ts.isTypeReferenceNode(node)
      ? node.typeName
      : ts.isExpressionWithTypeArguments(node)
        ? node.expression
        : undefined;
    const symbol = name && checker.getSymbolAtLocation(name);
    // A set is read to its end, including what is added meanwhile.
    if (symbol) seen.add(original(symbol));
    ts.forEachChild(node, visit);
  };
  for (const { declarations = [] } of seen) for (const node of declarations) if (isOurs(node)) visit(node);
  return [...seen].flatMap(({ declarations = [] }) => declarations.filter(isOurs));
}

/** The optional members of a type of options. @param {ts.Declaration} node @returns {[string, string[]][]} */
function optionsOf(node) {
  const isType = ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node);
  if (!isType || !node.name.text.endsWith('Options')) return [];
  const body = ts.isInterfaceDeclaration(node) ? node : node.type;
  if (!ts.isInterfaceDeclaration(body) && !ts.isTypeLiteralNode(body)) return [];
  const names = body.members.flatMap(({ name, questionToken }) =>
    name && questionToken && ts.isIdentifier(name) ? [name.text] : [],
  );
  return names.length === 0 ? [] : [[node.name.text, names.sort()]];
}

/** @returns {Surface & { version: string }} */
function readRelease() {
  const { version, entries, options } = JSON.parse(readFileSync(RELEASE, 'utf8'));
  return { version, entries: split(entries), options: split(options) };
}

/** @param {Record<string, string[]>} lists */
function joined(lists) {
  return Object.fromEntries(Object.entries(lists).map(([key, names]) => [key, names.join(' ')]));
}

/** @param {Record<string, string>} lists */
function split(lists) {
  return Object.fromEntries(Object.entries(lists).map(([key, names]) => [key, names.split(' ')]));
}

/** @param {string} page */
function withoutList(page) {
  const end = page.indexOf(BEGIN);
  if (end < 0) throw new Error(`${PAGE} does not say where the list begins. Add the line: ${BEGIN}`);
  return page.slice(0, end);
}

function printList() {
  const optionCount = Object.values(surface.options).flat().length;
  return lines(
    BEGIN,
    `## The list: ${Object.keys(surface.entries).length} entries, ${size} names, ${optionCount} options`,
    `Compared with ${release.version}. An export of several entries is counted once.`,
    ['| entry | status | names |', '|---|---|---|', ...Object.keys(surface.entries).map(printRow)].join('\n'),
    ...Object.entries(surface.entries).flatMap(([entry, exported]) => [
      `### Names of \`${entry}\``,
      ...printNames(exported, (name) => statusOf(entry, name)),
    ]),
    '## Options by type',
    [
      '| options | stable | new | draft |',
      '|---|---|---|---|',
      ...Object.entries(surface.options).map(printOptions),
    ].join('\n'),
  );
}

/** @param {string} entry */
function printRow(entry) {
  const status = DRAFTS.includes(entry) ? 'draft' : entry in release.entries ? 'stable' : 'new';
  return `| [\`${entry}\`](reference/${entry.replace(/^[^/]+\//, '')}.md) | ${status} | ${surface.entries[entry]?.length} |`;
}

/** @param {string[]} names @param {(name: string) => string} status @returns {string[]} */
function printNames(names, status) {
  return ['stable', 'new', 'draft'].flatMap((word) => {
    const found = names.filter((name) => status(name) === word);
    return found.length === 0 ? [] : [`- ${word}: ${code(found)}`];
  });
}

/** @param {[string, string[]]} options */
function printOptions([type, names]) {
  const cells = ['stable', 'new', 'draft'].map((word) =>
    code(names.filter((name) => statusOf(undefined, `${type}.${name}`) === word)),
  );
  return `| \`${type}\` | ${cells.join(' | ')} |`;
}

/** @param {string | undefined} entry @param {string} name A name, or an option with its type. */
function statusOf(entry, name) {
  if (DRAFTS.includes(name) || DRAFTS.includes(entry ?? '')) return 'draft';
  return namesOf(release).has(name) ? 'stable' : 'new';
}

/** Every name, and every option as `Type.option`. @param {Surface} of @returns {Set<string>} */
function namesOf({ entries, options }) {
  return new Set([
    ...Object.values(entries).flat(),
    ...Object.entries(options).flatMap(([type, names]) => names.map((name) => `${type}.${name}`)),
  ]);
}

function check() {
  const changelog = /\n## Unreleased\n([\s\S]*?)\n## /.exec(readFileSync('CHANGELOG.md', 'utf8'))?.[1] ?? '';
  const named = new Set(
    [...changelog.matchAll(/`[^`\n]+`/g)].flatMap(([words]) => words.match(/\w+/g) ?? []),
  );
  const [before, now] = [namesOf(release), namesOf(surface)];
  const came = [...now].filter((name) => !before.has(name));
  const went = [...before].filter((name) => !now.has(name));
  /** An option of a type that came or went with it need not be named. @param {string} name @param {string[]} all */
  const isNamed = (name, all) => {
    const [type = '', option = type] = name.split('.');
    return named.has(option) || (all.includes(type) && named.has(type));
  };
  conclude(
    [
      ...came
        .filter((name) => !isNamed(name, came))
        .map(
          (name) =>
            `${name} is new since ${release.version}, and CHANGELOG.md does not name it. Say under "Unreleased" what it is for.`,
        ),
      ...went
        .filter((name) => !isNamed(name, went))
        .map(
          (name) =>
            `${name} is gone since ${release.version}, and CHANGELOG.md does not name it. Say under "Unreleased" what to use instead.`,
        ),
      ...(readFileSync(PAGE, 'utf8') === text
        ? []
        : [`${PAGE} is not what the types say. Run: node scripts/surface.js`]),
    ],
    `${PAGE} lists ${now.size} names and options, ${came.length} of them new since ${release.version}`,
  );
}

/** @param {string[]} names */
function code(names) {
  return names.map((name) => `\`${name}\``).join(', ');
}

/** @param {...string} blocks */
function lines(...blocks) {
  return `${blocks.join('\n\n')}\n`;
}
