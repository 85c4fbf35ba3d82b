// Writes docs/reference: a page for each entry of the package, with every export, every member, its type, its default and its
// doc comment. The types of a large entry have pages of their own. --check fails if the pages are not what this script writes.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import ts from 'typescript-5.9';
import { breakLines } from './break-lines.js';
import { callText, headOf, source, splitDefault } from './declaration-text.js';
import { conclude, filesUnder, root } from './files.js';
import { slugger } from './markdown.js';
import { docOf, isOurs, isPrivate, readPublicTypes } from './public-types.js';

const FOLDER = 'docs/reference';
const GENERATED =
  '<!-- Written by scripts/reference.js from the doc comments. Change those, and run it again. -->';
const INNER = 'Types without an export';
/** The declarations of all pages, whose places have their numbers in «» until they are formatted. @type {string[]} */
const signatures = [];
const KINDS = /** @type {const} */ (['Functions and values', 'Classes', 'Types', INNER]);

/**
 * The entries whose types would make their page too long, and the pages of those types. A type is on the first page whose folders have
 * its declaration, so that it stays there while others are added.
 * @type {Readonly<Record<string, readonly Part[]>>}
 */
const PARTS = {
  fullmcp: [
    { file: 'fullmcp-definitions.md', about: 'types of definitions', folders: ['server/define'] },
    { file: 'fullmcp-handlers.md', about: 'types of handlers and of the server', folders: ['server'] },
    { file: 'fullmcp-state.md', about: 'types of stores and processes', folders: ['state'] },
    { file: 'fullmcp-protocol.md', about: 'types of calls, content and schemas', folders: [''] },
  ],
  'fullmcp/client': [
    { file: 'client-options.md', about: 'types of connections', folders: ['connect', 'oauth', 'transports'] },
    { file: 'client-types.md', about: 'types of calls and results', folders: [''] },
  ],
};

/** @typedef {{ file: string, about: string, folders: readonly string[] }} Part */

/**
 * @typedef {object} Item One export, described on the page of the first entry that has it.
 * @property {string} name
 * @property {ts.Symbol} symbol The original, behind the names that re-export it.
 * @property {ts.Declaration[]} declarations
 * @property {typeof KINDS[number]} kind
 * @property {string} page
 * @property {string} anchor
 */

process.chdir(root);
const { checker, entries } = readPublicTypes();
const exported = new Set(entries.flatMap(({ exports }) => exports.map(originalOf)));
/** @type {Map<ts.Symbol, Item>} */
const items = new Map();
const pages = entries.map(readEntry);
const written = withSignatures(
  new Map([
    [`${FOLDER}/index.md`, printIndex()],
    ...pages.flatMap((page) => [printPage(page), ...page.parts.map((part) => printPart(page, part))]),
  ]),
);
if (process.argv.includes('--check')) checkPages();
else writePages();

/** @param {import('./public-types.js').Entry} entry */
function readEntry({ specifier, exports }) {
  const page = `${specifier.replace(/^[^/]+\//, '')}.md`;
  const parts = PARTS[specifier] ?? [];
  const known = new Set(items.values());
  const found = exports.map((symbol) => readItem(symbol, page));
  const own = found.filter((item) => !known.has(item));
  for (const item of own) own.push(...innerTypes(item, page));
  const all = [...new Set([...found, ...own])].sort(byName);
  for (const item of own) item.page = partOf(item, parts)?.file ?? page;
  for (const { file, about } of [{ file: page, about: '' }, ...parts])
    giveAnchors(all, file, titleOf(specifier, about));
  return { specifier, file: page, parts, items: all };
}

/** The page of a type, if the types of its entry have pages of their own. @param {Item} item @param {readonly Part[]} parts */
function partOf({ kind, declarations }, parts) {
  if (kind !== 'Types' && kind !== INNER) return undefined;
  const path = relative('dist', declarations[0]?.getSourceFile().fileName ?? '').replaceAll('\\', '/');
  return parts.find(({ folders }) => folders.some((folder) => path.startsWith(folder)));
}

/** @param {Item[]} all @param {string} file @param {string} title */
function giveAnchors(all, file, title) {
  const slug = slugger();
  for (const heading of [title, ...KINDS]) slug(heading);
  for (const kind of KINDS) {
    for (const item of all) if (item.kind === kind && item.page === file) item.anchor = slug(item.name);
  }
}

/** @param {string} specifier @param {string} about */
function titleOf(specifier, about) {
  return about === '' ? specifier : `${specifier}: ${about}`;
}

/** @param {ts.Symbol} symbol The symbol behind a name that re-exports it. */
function originalOf(symbol) {
  return symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
}

/**
 * @param {ts.Symbol} symbol
 * @param {string} page
 * @param {Item['kind']} [kind]
 * @returns {Item}
 */
function readItem(symbol, page, kind) {
  const original = originalOf(symbol);
  const known = items.get(original);
  if (known !== undefined) return known;
  const declarations = (original.declarations ?? []).filter(isOurs);
  const item = {
    name: symbol.name,
    symbol: original,
    declarations,
    kind: kind ?? kindOf(original),
    page,
    anchor: '',
  };
  items.set(original, item);
  return item;
}

/** @param {ts.Symbol} symbol @returns {Item['kind']} */
function kindOf({ flags }) {
  if (flags & ts.SymbolFlags.Class) return 'Classes';
  return flags & ts.SymbolFlags.Value ? 'Functions and values' : 'Types';
}

/**
 * The types that a declaration names and that no entry exports.
 * @param {Item} item @param {string} page
 */
function innerTypes({ declarations }, page) {
  /** @type {Item[]} */
  const found = [];
  /** @param {ts.Node} node */
  const visit = (node) => {
    if (ts.isTypeReferenceNode(node)) {
      const symbol = checker.getSymbolAtLocation(node.typeName);
      const original = symbol && originalOf(symbol);
      if (
        original &&
        !exported.has(original) &&
        !items.has(original) &&
        original.declarations?.every(isWorthIt)
      )
        found.push(readItem(original, page, INNER));
    }
    ts.forEachChild(node, visit);
  };
  declarations.forEach(visit);
  return found;
}

/** Whether a type says something to a reader: those that compute other types for the compiler do not. @param {ts.Declaration} node */
function isWorthIt(node) {
  if (!isOurs(node) || docOf(node).text === '') return false;
  if (ts.isInterfaceDeclaration(node)) return true;
  return (
    ts.isTypeAliasDeclaration(node) && !ts.isConditionalTypeNode(node.type) && !ts.isMappedTypeNode(node.type)
  );
}

function printIndex() {
  const rows = pages.map(({ specifier, file, items: found }) => {
    const values = found.filter(({ kind }) => kind === 'Classes' || kind === 'Functions and values');
    const types = found.filter(({ kind }) => kind === 'Types');
    const names = values.map((item) => link(item, 'index.md', `\`${item.name}\``));
    return `| [\`${specifier}\`](${file}) | ${names.join(', ')} | ${types.length} |`;
  });
  return lines(
    '# API reference',
    GENERATED,
    'Every export of every entry point, generated from the doc comments that editors show on hover. An export that several entry\npoints share is described on one page, and the others link to it.',
    ['| import from | functions, values and classes | types |', '|---|---|---|', ...rows].join('\n'),
  );
}

/** @typedef {ReturnType<typeof readEntry>} Page */

/** @param {Page} page @returns {[path: string, text: string]} */
function printPage({ specifier, file, parts, items: found }) {
  const types = parts.flatMap(({ file: part, about }) => {
    const names = found.filter((item) => item.page === part && item.kind === 'Types');
    return `The [${about}](${part}): ${names.map((item) => link(item, file, `\`${item.name}\``)).join(', ')}.`;
  });
  const others = found.filter((item) => item.page !== file && !parts.some((part) => part.file === item.page));
  const shared =
    others.length === 0
      ? []
      : [
          `## Described elsewhere`,
          `Exported here too: ${others.map((item) => link(item, file, `\`${item.name}\``)).join(', ')}.`,
        ];
  return [
    `${FOLDER}/${file}`,
    lines(
      `# ${specifier}`,
      GENERATED,
      ...printKinds(found, file),
      ...(types.length === 0 ? [] : ['## Types', ...types]),
      ...shared,
    ),
  ];
}

/** @param {Page} page @param {Part} part @returns {[path: string, text: string]} */
function printPart({ specifier, file, items: found }, part) {
  return [
    `${FOLDER}/${part.file}`,
    lines(
      `# ${titleOf(specifier, part.about)}`,
      GENERATED,
      `These are types of [\`${specifier}\`](${file}), which has the functions, the values and the other types.`,
      ...printKinds(found, part.file),
    ),
  ];
}

/** @param {Item[]} found @param {string} file */
function printKinds(found, file) {
  return KINDS.flatMap((kind) => {
    const own = found.filter((item) => item.kind === kind && item.page === file);
    return own.length === 0 ? [] : [`## ${kind}`, ...own.flatMap((item) => printItem(item))];
  });
}

/** @param {Item} item @returns {string[]} */
function printItem(item) {
  const { name, symbol, declarations } = item;
  const [declaration] = declarations;
  if (declaration === undefined) throw new Error(`${name} has no declaration in dist.`);
  const docs = declarations.map(docOf);
  const { text, examples } = docs.find((doc) => doc.text !== '') ?? { text: '', examples: [] };
  return [
    `### ${name}`,
    ...(text === '' ? [] : [text]),
    ...printDeclarations(item),
    ...membersOf(symbol, declarations, item),
    ...examples.map((code) => fence(code, 'Example:\n\n')),
  ];
}

/** @param {Item} item @returns {string[]} */
function printDeclarations({ name, symbol, declarations }) {
  const texts = declarations.flatMap((declaration) => {
    if (ts.isFunctionDeclaration(declaration)) return [source(declaration)];
    if (ts.isTypeAliasDeclaration(declaration)) return [source(declaration)];
    if (ts.isInterfaceDeclaration(declaration) || ts.isClassDeclaration(declaration)) {
      return declaration.typeParameters || declaration.heritageClauses ? [headOf(declaration)] : [];
    }
    if (!ts.isVariableDeclaration(declaration)) return [];
    const signatures = checker.getTypeOfSymbolAtLocation(symbol, declaration).getCallSignatures();
    const printed = signatures.flatMap(({ declaration: signature }) =>
      signature === undefined ? [] : [`${name}${callText(signature)}`],
    );
    return printed.length > 0 ? printed : [`const ${source(declaration)}`];
  });
  return texts.length === 0 ? [] : [fence(texts.map((text) => `«${signatures.push(text) - 1}»`).join('\n'))];
}

/** The pages with their declarations, all formatted at once, in the places that were left for them. @param {Map<string, string>} printed */
function withSignatures(printed) {
  const broken = breakLines(signatures);
  return new Map(
    [...printed].map(([file, text]) => [file, text.replace(/«(\d+)»/g, (_, at) => broken[Number(at)] ?? '')]),
  );
}

/**
 * @param {ts.Symbol} symbol @param {ts.Declaration[]} declarations @param {Item} item
 * @returns {string[]}
 */
function membersOf(symbol, declarations, item) {
  const [declaration] = declarations;
  if (declaration === undefined) return [];
  /** @type {Row[]} */
  const rows = [];
  if (ts.isInterfaceDeclaration(declaration) || ts.isClassDeclaration(declaration)) {
    const type = checker.getDeclaredTypeOfSymbol(symbol);
    for (const signature of type.getCallSignatures()) addSignature(signature, rows);
    if (ts.isClassDeclaration(declaration)) {
      const statics = checker.getTypeOfSymbolAtLocation(symbol, declaration);
      for (const signature of statics.getConstructSignatures()) addSignature(signature, rows, 'new ');
      addMembers(statics, `${item.name}.`, rows);
    }
    addMembers(type, '', rows);
  } else if (ts.isTypeAliasDeclaration(declaration)) {
    addLiterals(declaration.type, '', rows);
  } else if (ts.isFunctionDeclaration(declaration)) {
    for (const part of declarations) addLiterals(part, '', rows);
  }
  return rows.length === 0 ? [] : [table(unique(rows), item)];
}

/**
 * @typedef {object} Row
 * @property {string} name
 * @property {string} type
 * @property {string} text
 */

/** @param {ts.Type} type @param {string} prefix @param {Row[]} rows */
function addMembers(type, prefix, rows) {
  for (const { name, declarations = [] } of type.getProperties()) {
    if (/^(~|__@|#|prototype$)/.test(name)) continue;
    for (const declaration of declarations) {
      if (isOurs(declaration) && !isPrivate(declaration)) addMember(name, declaration, prefix, rows);
    }
  }
}

/** @param {string} name @param {ts.Declaration} declaration @param {string} prefix @param {Row[]} rows */
function addMember(name, declaration, prefix, rows) {
  const optional = Boolean(/** @type {ts.PropertySignature} */ (declaration).questionToken);
  rows.push({
    name: `${prefix}${name}${optional ? '?' : ''}`,
    type: typeOf(declaration, optional),
    text: docOf(declaration).text,
  });
  addLiterals(declaration, `${prefix}${name} › `, rows);
}

/** @param {ts.Signature} signature @param {Row[]} rows @param {string} [before] */
function addSignature({ declaration }, rows, before = '') {
  if (declaration === undefined || !isOurs(declaration)) return;
  // A function type is inherited from a type alias, which has the comment.
  const text = docOf(/** @type {ts.Declaration} */ (declaration)).text;
  rows.push({ name: `${before}()`, type: callText(declaration), text });
  addLiterals(declaration, `${before}() › `, rows);
}

/**
 * The members of the object types that are written inside of a declaration.
 * @param {ts.Node} node @param {string} prefix @param {Row[]} rows
 */
function addLiterals(node, prefix, rows) {
  // The object of `T extends { … }` is a pattern: no value has that type.
  if (ts.isConditionalTypeNode(node)) return;
  if (ts.isTypeLiteralNode(node)) addMembers(checker.getTypeAtLocation(node), prefix, rows);
  else ts.forEachChild(node, (child) => addLiterals(child, prefix, rows));
}

/** @param {ts.Declaration} declaration @param {boolean} optional */
function typeOf(declaration, optional) {
  const { type } = /** @type {ts.PropertySignature} */ (declaration);
  const text =
    ts.isMethodSignature(declaration) || ts.isMethodDeclaration(declaration)
      ? callText(declaration)
      : type === undefined
        ? checker.typeToString(checker.getTypeAtLocation(declaration))
        : source(type);
  return optional ? text.replace(/ \| undefined$/, '') : text;
}

/** @param {Row[]} rows @param {Item} item */
function table(rows, item) {
  const parsed = rows.map((row) => ({ ...row, ...splitDefault(row.text) }));
  const withDefaults = parsed.some((row) => row.fallback !== '');
  const head = withDefaults
    ? ['| member | type | default | meaning |', '|---|---|---|---|']
    : ['| member | type | meaning |', '|---|---|---|'];
  return [
    ...head,
    ...parsed.map(({ name, type, text, fallback }) => {
      const cells = [
        `\`${name}\``,
        linked(type, item),
        ...(withDefaults ? [cell(fallback)] : []),
        cell(text),
      ];
      return `| ${cells.join(' | ')} |`;
    }),
  ].join('\n');
}

/** A type as code, which leads to the first of our types in it. @param {string} type @param {Item} item */
function linked(type, item) {
  const code = `\`${cell(type)}\``;
  for (const [name] of type.matchAll(/\b[A-Z]\w+/g)) {
    const named = [...items.values()].filter(
      (other) => other.name === name && other.kind !== 'Functions and values',
    );
    const target = named.find(({ page }) => page === item.page) ?? named[0];
    if (target !== undefined && target !== item) return link(target, item.page, code);
  }
  return code;
}

/** @param {Item} item @param {string} from @param {string} text */
function link({ page, anchor }, from, text) {
  return `[${text}](${page === from ? '' : page}#${anchor})`;
}

/** @param {string} text One line for a table. */
function cell(text) {
  return text.replace(/\s+/g, ' ').replaceAll('|', '\\|');
}

/** @param {string} code @param {string} [before] */
function fence(code, before = '') {
  return `${before}\`\`\`ts\n${code}\n\`\`\``;
}

/** @param {Row[]} rows Overloads have rows of the same name and type. */
function unique(rows) {
  /** @type {Map<string, Row>} */
  const found = new Map();
  for (const row of rows) {
    const key = `${row.name} ${row.type}`;
    if (!found.has(key)) found.set(key, row);
  }
  return [...found.values()];
}

/** @param {Item} a @param {Item} b */
function byName(a, b) {
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
}

/** @param {...string} blocks */
function lines(...blocks) {
  return `${blocks.join('\n\n')}\n`;
}

function writePages() {
  mkdirSync(FOLDER, { recursive: true });
  for (const file of filesUnder(FOLDER)) if (!written.has(file)) rmSync(file);
  for (const [file, text] of written) writeFileSync(file, text);
  console.log(`${written.size} pages, ${exported.size} exports`);
}

function checkPages() {
  const old = [...written].filter(([file, text]) => !existsSync(file) || readFileSync(file, 'utf8') !== text);
  const extra = filesUnder(FOLDER).filter((file) => !written.has(file));
  conclude(
    [
      ...old.map(([file]) => `${file} is not what the doc comments say. Run: node scripts/reference.js`),
      ...extra.map((file) => `${file} describes no entry of the package. Run: node scripts/reference.js`),
    ],
    `${written.size} pages describe ${exported.size} exports`,
  );
}
