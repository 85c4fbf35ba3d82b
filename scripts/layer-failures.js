// Finds violations of the layers and rooms in scripts/layers.js: imports, circles, Node and third parties, revisions, wide folders.
import { posix } from 'node:path';
import ts from 'typescript-5.9';
import { circlesOf } from './circles.js';
import {
  COMPARES_ORDER,
  ERA_QUESTIONS,
  LAYERS,
  MAX_ENTRIES,
  MAX_LAYERS,
  MAX_PUBLIC_ENTRIES,
  MAY_LOAD_NODE,
  MAY_LOOK_FOR_NODE,
  MAY_NAME_ANY_PACKAGE,
  MAY_USE_NODE,
  NAMES_DAYS,
  NAMES_REVISIONS,
  NEVER_ASK_FOR_ERA,
  NODE_GLOBALS,
  NODE_ROOMS,
  PACKAGE_HOMES,
  REVISION,
  ROLES,
} from './layers.js';

const EQUALITIES = [
  ts.SyntaxKind.EqualsEqualsEqualsToken,
  ts.SyntaxKind.ExclamationEqualsEqualsToken,
  ts.SyntaxKind.EqualsEqualsToken,
  ts.SyntaxKind.ExclamationEqualsToken,
];

/**
 * @typedef {{ line: number, text: string }} Failure
 * @typedef {{ to: string, line: number, loads: boolean, names: readonly string[] }} Import
 * @typedef {{ path: string, imports: readonly Import[], failures: readonly Failure[] }} Module A file of src, its imports, and
 *   the failures that can be seen in it alone.
 */

/** @param {string} path Below src. @param {string} text @returns {Module} */
export function readModule(path, text) {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  /** @type {Import[]} */
  const imports = [];
  /** @param {ts.Node | undefined} literal @param {boolean} loads @param {readonly string[]} names `*` is all of them. */
  const add = (literal, loads, names = ['*']) => {
    if (literal === undefined || !ts.isStringLiteralLike(literal)) return;
    const to = literal.text.startsWith('.')
      ? posix.normalize(posix.join(posix.dirname(path), literal.text)).replace(/\.js$/, '.ts')
      : literal.text;
    imports.push({ to, line: lineOf(source, literal), loads, names });
  };
  /** @param {ts.Node} node */
  const visit = (node) => {
    if (ts.isImportDeclaration(node)) {
      const { importClause: clause } = node;
      const bindings = clause?.namedBindings;
      const elements = bindings && ts.isNamedImports(bindings) ? [...bindings.elements] : [];
      const onlyTypes =
        clause?.isTypeOnly === true || (elements.length > 0 && elements.every((one) => one.isTypeOnly));
      add(
        node.moduleSpecifier,
        !onlyTypes,
        bindings && ts.isNamespaceImport(bindings) ? ['*'] : elements.map(importedName),
      );
    } else if (ts.isExportDeclaration(node) && node.moduleSpecifier !== undefined) {
      const clause = node.exportClause;
      const elements = clause && ts.isNamedExports(clause) ? [...clause.elements] : [];
      const onlyTypes = node.isTypeOnly || (elements.length > 0 && elements.every((one) => one.isTypeOnly));
      add(
        node.moduleSpecifier,
        !onlyTypes,
        clause && ts.isNamedExports(clause) ? elements.map(importedName) : ['*'],
      );
    } else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) {
      add(node.argument.literal, false, []);
    } else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      add(node.arguments[0], true);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return { path, imports, failures: [...nodeFailures(path, source), ...revisionFailures(path, source)] };
}

/** @param {ts.ImportSpecifier | ts.ExportSpecifier} element */
function importedName({ propertyName, name }) {
  return (propertyName ?? name).text;
}

/**
 * The failures of all files together: imports against the layers, circles, and those of each file.
 * @param {readonly Module[]} modules @returns {string[]}
 */
export function layerFailures(modules) {
  const known = new Set(modules.map(({ path }) => path));
  return [
    ...modules.flatMap((module) =>
      [...importFailures(module, known), ...module.failures]
        .sort((a, b) => a.line - b.line)
        .map(({ line, text }) => `src/${module.path}:${line} ${text}`),
    ),
    ...cycleFailures(modules, known),
  ];
}

/** @param {Module} module @param {ReadonlySet<string>} known @returns {Failure[]} */
function importFailures({ path, imports }, known) {
  return imports.flatMap(({ to, line, loads, names }) => {
    const text =
      /^(src\/|\.\.)/.test(to) || known.has(to)
        ? (roleFailure(path, to) ??
          layerFailure(path, to) ??
          loadFailure(path, to, loads) ??
          eraFailure(path, to, names))
        : packageFailure(path, to);
    return text === undefined ? [] : [{ line, text }];
  });
}

/** @param {string} file @param {string} specifier @returns {string | undefined} */
function packageFailure(file, specifier) {
  if (specifier.startsWith('node:')) {
    if (startsWithAny(file, MAY_USE_NODE)) return undefined;
    return `imports ${specifier}. Node built-ins belong in ${MAY_USE_NODE.join(', ')}: move it there, or use a Web API.`;
  }
  const name = specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
  if (name === 'fullmcp') return `imports ${specifier}. Inside src, import by relative path.`;
  const home = PACKAGE_HOMES[name];
  if (startsWithAny(file, home === undefined ? MAY_NAME_ANY_PACKAGE : [home])) return undefined;
  return `imports the package ${name}. Only ${home ?? MAY_NAME_ANY_PACKAGE.join(', ')} may: put it behind an interface.`;
}

/** @param {string} file @param {string} target @returns {string | undefined} */
function layerFailure(file, target) {
  if (target.startsWith('..')) return `imports ${target}, outside src. Nothing there is part of the package.`;
  const from = layerOf(file);
  const to = layerOf(target);
  // Entries compose. Circles between them are found below.
  if (from === '') return undefined;
  const layer = LAYERS[from];
  if (layer === undefined) return `is in ${from}/, which has no row in scripts/layers.js. Add one.`;
  if (from !== to) {
    if (layer.may.includes(to === '' ? target : to)) return undefined;
    return `imports ${target}. ${from}/ may import ${layer.may.join(', ') || 'nothing of ours'}: move the code, or pass it in.`;
  }
  const rooms = Object.keys(layer.rooms ?? { '.': '' });
  const [here, there] = [roomOf(file), roomOf(target)];
  if (!rooms.includes(here))
    return `is in ${from}/${here}, which is not a room of ${from} in scripts/layers.js. Add it.`;
  if (rooms.indexOf(there) <= rooms.indexOf(here)) return undefined;
  return `imports ${target}. In ${from}/ the rooms are, lowest first, ${rooms.join(', ')}, and each imports only those before it.`;
}

/** @param {string} file @param {string} target @returns {string | undefined} */
function roleFailure(file, target) {
  const [from, to] = [roleOf(file), roleOf(target)];
  if (from === undefined || to === undefined || from === to) return undefined;
  return `imports ${target}. Files of the ${from} never import files of the ${to}: move the shared part to a folder of neither.`;
}

/** @param {string} file @param {string} target @param {boolean} loads @returns {string | undefined} */
function loadFailure(file, target, loads) {
  if (!loads || !startsWithAny(target, NODE_ROOMS) || startsWithAny(file, MAY_LOAD_NODE)) return undefined;
  return `loads ${target}, which needs Node. Import only its types, and let an entry file pass in the rest.`;
}

/** @param {string} file @param {string} target @param {readonly string[]} names @returns {string | undefined} */
function eraFailure(file, target, names) {
  if (target !== COMPARES_ORDER || !startsWithAny(file, NEVER_ASK_FOR_ERA)) return undefined;
  const asked = names.filter((name) => name === '*' || ERA_QUESTIONS.includes(name));
  if (asked.length === 0) return undefined;
  return `asks for the era (${asked.join(', ')}). The roles know only the newest revision: let the link or the Call say it.`;
}

/** @param {string} path @param {ts.SourceFile} source @returns {Failure[]} */
function nodeFailures(path, source) {
  if (startsWithAny(path, MAY_USE_NODE)) return [];
  /** @type {Failure[]} */
  const found = [];
  /** @param {ts.Node} node @param {string} name */
  const add = (node, name) =>
    found.push({
      line: lineOf(source, node),
      text: `uses ${name}, which only Node has. Take the value as an argument, or use a Web API.`,
    });
  each(source, (node) => {
    // process, globalThis.process, globalThis['process'], const { process } = globalThis. `'process' in globalThis` only looks.
    if (MAY_LOOK_FOR_NODE.includes(path)) return;
    if (ts.isIdentifier(node) && NODE_GLOBALS.includes(node.text) && isValueName(node)) add(node, node.text);
    if (isGlobalThis(expressionOf(node))) {
      const name = ts.isPropertyAccessExpression(node)
        ? node.name.text
        : ts.isElementAccessExpression(node) && ts.isStringLiteralLike(node.argumentExpression)
          ? node.argumentExpression.text
          : undefined;
      if (name !== undefined && NODE_GLOBALS.includes(name)) add(node, `globalThis.${name}`);
    }
    if (
      ts.isVariableDeclaration(node) &&
      isGlobalThis(node.initializer) &&
      ts.isObjectBindingPattern(node.name)
    ) {
      for (const { name, propertyName } of node.name.elements) {
        const text = (propertyName ?? name).getText(source);
        if (NODE_GLOBALS.includes(text)) add(node, `globalThis.${text}`);
      }
    }
  });
  return found;
}

/** @param {string} path @param {ts.SourceFile} source @returns {Failure[]} */
function revisionFailures(path, source) {
  if (path.startsWith(NAMES_REVISIONS)) return path === COMPARES_ORDER ? [] : orderFailures(source);
  /** @type {Failure[]} */
  const found = orderFailures(source);
  if (NAMES_DAYS.includes(path)) return found;
  each(source, (node) => {
    // A revision in a comment is welcome, and so is one in a longer sentence.
    if (ts.isStringLiteralLike(node) && REVISION.test(node.text) && !ts.isLiteralTypeNode(node.parent))
      found.push({
        line: lineOf(source, node),
        text: `names one revision. Add a row to ${COMPARES_ORDER} and ask has(revision, feature).`,
      });
    if (comparedBy(node).some((side) => /\b(newest|oldest)(Revision|Session)\b/.test(side.getText(source))))
      found.push({
        line: lineOf(source, node),
        text: `asks for one revision. Add a row to ${COMPARES_ORDER} and ask has(revision, feature).`,
      });
  });
  return found;
}

/** @param {ts.Node} node @returns {readonly ts.Node[]} The sides of an equality, and what a `case` is equal to. */
function comparedBy(node) {
  if (ts.isCaseClause(node)) return [node.expression];
  if (!ts.isBinaryExpression(node) || !EQUALITIES.includes(node.operatorToken.kind)) return [];
  return [node.left, node.right];
}

/** @param {ts.SourceFile} source @returns {Failure[]} */
function orderFailures(source) {
  /** @type {Failure[]} */
  const found = [];
  const text = `orders revisions. Ask has(revision, feature) of ${COMPARES_ORDER}.`;
  each(source, (node) => {
    if (ts.isBinaryExpression(node) && ['<', '>', '<=', '>='].includes(node.operatorToken.getText(source))) {
      if ([node.left, node.right].some((side) => namesRevision(side.getText(source))))
        found.push({ line: lineOf(source, node), text });
    }
    if (ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression)) {
      const method = node.expression.name.text;
      const owner = node.expression.expression.getText(source);
      const args = node.arguments.map((argument) => argument.getText(source));
      const isOrder = ['indexOf', 'lastIndexOf', 'findIndex'].includes(method) && /revisions?$/i.test(owner);
      const isCollation = method === 'localeCompare' && [owner, ...args].some(namesRevision);
      if (isOrder || isCollation) found.push({ line: lineOf(source, node), text });
    }
  });
  return found;
}

/** @param {string} code */
function namesRevision(code) {
  return /(revision|protocolVersion|\bversion)$/i.test(code) || /^['"`]20\d\d-\d\d-\d\d['"`]$/.test(code);
}

/**
 * Circles of files and of folders, types included. Each entry file is a folder of its own.
 * @param {readonly Module[]} modules @param {ReadonlySet<string>} known @returns {string[]}
 */
function cycleFailures(modules, known) {
  /** @type {Map<string, Set<string>>} */
  const files = new Map();
  /** @type {Map<string, Set<string>>} */
  const folders = new Map();
  const folderOf = (/** @type {string} */ path) => (path.includes('/') ? posix.dirname(path) : path);
  for (const { path, imports } of modules) {
    const ours = imports.map(({ to }) => to).filter((to) => known.has(to));
    files.set(path, new Set(ours.filter((to) => to !== path)));
    const folder = folderOf(path);
    const reached = folders.get(folder) ?? new Set();
    for (const to of ours) if (folderOf(to) !== folder) reached.add(folderOf(to));
    folders.set(folder, reached);
  }
  const layers = new Map();
  for (const [from, tos] of folders) {
    const reached = layers.get(layerOf(`${from}/`) || from) ?? new Set();
    for (const to of tos) {
      const layer = to.endsWith('.ts') ? to : to.split('/')[0];
      if (layer !== (from.endsWith('.ts') ? from : from.split('/')[0])) reached.add(layer);
    }
    layers.set(from.endsWith('.ts') ? from : from.split('/')[0], reached);
  }
  return [...circlesOf(files), ...circlesOf(folders), ...circlesOf(layers)].map(
    (circle) => `A circle of imports: ${circle.join(' → ')}. Move what they share to the lowest of them.`,
  );
}

/**
 * Folders with more entries than one takes in at a glance. The entries of src are counted apart from its folders.
 * @param {readonly string[]} files @returns {string[]}
 */
export function widthNotes(files) {
  /** @type {Map<string, Set<string>>} */
  const entries = new Map();
  for (const file of files) {
    const parts = file.split('/');
    for (let i = 1; i < parts.length; i++) {
      const folder = parts.slice(0, i).join('/');
      const key = folder === 'src' && i === parts.length - 1 ? 'src/*.ts' : folder;
      entries.set(key, (entries.get(key) ?? new Set()).add(/** @type {string} */ (parts[i])));
    }
  }
  return [...entries].flatMap(([folder, { size }]) => {
    const most = folder === 'src/*.ts' ? MAX_PUBLIC_ENTRIES : folder === 'src' ? MAX_LAYERS : MAX_ENTRIES;
    return size > most ? [`${folder} has ${size} entries, more than ${most}`] : [];
  });
}

/** @param {string} path The first folder; nothing for an entry file. */
function layerOf(path) {
  return path.includes('/') ? path.slice(0, path.indexOf('/')) : '';
}

/** @param {string} path */
function roomOf(path) {
  return path.split('/').slice(1, -1).join('/') || '.';
}

/** @param {string} path @returns {string | undefined} */
function roleOf(path) {
  const named = /** @type {Record<string, string>} */ (ROLES)[path];
  return (
    named ??
    path
      .split('/')
      .slice(0, -1)
      .find((folder) => folder === 'server' || folder === 'client')
  );
}

/** @param {ts.Node} node */
function expressionOf(node) {
  return ts.isPropertyAccessExpression(node) || ts.isElementAccessExpression(node)
    ? node.expression
    : undefined;
}

/** @param {ts.Node | undefined} node */
function isGlobalThis(node) {
  let inner = node;
  while (inner && isTransparent(inner)) inner = inner.expression;
  return inner !== undefined && ts.isIdentifier(inner) && inner.text === 'globalThis';
}

/** @param {ts.Node} node Whether the node has the value of its expression. */
function isTransparent(node) {
  return (
    ts.isParenthesizedExpression(node) ||
    ts.isAsExpression(node) ||
    ts.isSatisfiesExpression(node) ||
    ts.isTypeAssertionExpression(node) ||
    ts.isNonNullExpression(node)
  );
}

/** @param {ts.Identifier} node Whether the name stands for a value of the surroundings, and is not a member, a key or a declaration. */
function isValueName(node) {
  const { parent } = node;
  if (ts.isPropertyAccessExpression(parent)) return parent.expression === node;
  if (ts.isQualifiedName(parent) || ts.isTypeNode(parent)) return false;
  return (
    !('name' in parent && parent.name === node) && !('propertyName' in parent && parent.propertyName === node)
  );
}

/** @param {ts.SourceFile} source @param {(node: ts.Node) => void} visit */
function each(source, visit) {
  /** @param {ts.Node} node */
  const walk = (node) => {
    visit(node);
    ts.forEachChild(node, walk);
  };
  walk(source);
}

/** @param {ts.SourceFile} source @param {ts.Node} node */
function lineOf(source, node) {
  return source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1;
}

/** @param {string} file @param {readonly string[]} prefixes */
function startsWithAny(file, prefixes) {
  return prefixes.some((prefix) => file.startsWith(prefix));
}
