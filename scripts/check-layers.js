// Holds the layers and the rooms: who may import whom, no cycles, where Node and third parties may be named, where revisions
// are compared, how many files a folder has. Prints the table of docs/architecture.md; `--write` writes it there.
import { readFileSync, writeFileSync } from 'node:fs';
import { posix } from 'node:path';
import ts from 'typescript-5.9';
import { conclude, filesUnder, root } from './files.js';

/**
 * @typedef {object} Layer
 * @property {string} what A description of the folder, for the page.
 * @property {readonly string[]} may The folders, or entry files, that it may import besides itself.
 * @property {readonly string[]} [rooms] Its inner folders, lowest first; `.` is its own files. Each may import those before it.
 */

/** @type {Readonly<Record<string, Layer>>} Lowest first. */
const LAYERS = {
  async: { what: 'delays, deadlines, aborts, lifetimes; no MCP word in it', may: [] },
  jsonrpc: { what: 'JSON-RPC 2.0 and its framings; no MCP word in it', may: [] },
  schema: {
    what: 'Standard Schema or JSON Schema in, JSON Schema out; validation, coercion, error messages',
    may: [],
    rooms: ['document', 'check', 'explain', '.'],
  },
  protocol: {
    what: 'the model: calls, links, errors, content, URI templates, and the tables of revisions, features and methods',
    may: ['async', 'jsonrpc', 'schema'],
    rooms: ['checks', 'encoding', 'tables', 'model', 'uri-template', '.'],
  },
  server: {
    what: 'the serving role, newest revision only',
    may: ['async', 'jsonrpc', 'schema', 'protocol'],
    rooms: ['state', 'asking', 'results', 'context', 'define', 'catalog', 'handle', '.'],
  },
  client: {
    what: 'the asking role, newest revision only',
    may: ['async', 'jsonrpc', 'schema', 'protocol'],
    rooms: ['model', 'checks', 'connection', 'answering', 'calls', 'tasks', 'subscriptions', '.'],
  },
  transports: {
    what: 'bytes to Call and back, at both ends: HTTP, stdio, WebSocket, in-process',
    may: ['async', 'jsonrpc', 'protocol'],
    rooms: [
      'client',
      'server',
      'http/client',
      'http/server',
      'stdio/client',
      'stdio/server',
      'websocket',
      'memory',
    ],
  },
  legacy: {
    what: 'revisions before 2026-07-28: sessions, the handshake, event logs, HTTP+SSE, old shapes, for both roles',
    may: ['async', 'jsonrpc', 'protocol', 'transports'],
    rooms: ['shapes', 'client', 'client/http', 'server', 'server/http'],
  },
  connect: {
    what: 'targets and configurations, finding the era of a server, many servers as one',
    may: ['async', 'jsonrpc', 'protocol', 'client', 'transports', 'legacy'],
    rooms: ['targets', 'config', 'open', 'group', '.'],
  },
  extensions: {
    what: 'extensions of the protocol: tasks',
    may: ['async', 'jsonrpc', 'protocol', 'server'],
    rooms: ['tasks'],
  },
  adapters: {
    what: 'Node, Fastify, LMDB; the only folder that names a third party',
    may: ['async', 'jsonrpc', 'protocol', 'server', 'transports', 'legacy'],
    rooms: ['node/client', 'node/server', 'fastify', 'lmdb'],
  },
  testing: {
    what: 'the testing kit: the real parts with the sockets left out, and faults put in',
    may: [
      'async',
      'jsonrpc',
      'protocol',
      'server',
      'client',
      'transports',
      'legacy',
      'connect',
      'index.ts',
      'http.ts',
      'websocket.ts',
    ],
    rooms: ['faults', 'memory', 'recording', '.'],
  },
};

/** Files that are of one role though no folder of theirs says so. Those of the two roles never import each other. */
const ROLES = { 'transports/websocket/accept.ts': 'server', 'transports/websocket/connect.ts': 'client' };

/** Rooms that need Node. Portable files may import types from them, but never load them. */
const NODE_ROOMS = ['adapters/', 'transports/stdio/'];
const MAY_USE_NODE = [...NODE_ROOMS, 'testing/', 'testing.ts'];
const MAY_LOAD_NODE = [...MAY_USE_NODE, 'client.ts', 'node.ts', 'stdio.ts', 'fastify.ts', 'lmdb.ts'];
const NODE_GLOBALS = [
  'process',
  'Buffer',
  'setImmediate',
  'clearImmediate',
  'require',
  'global',
  '__dirname',
  '__filename',
];
/** These look at `globalThis` for what only Node has, and do without it elsewhere. */
const MAY_LOOK_FOR_NODE = ['client.ts', 'client-web.ts', 'node.ts', 'stdio.ts', 'async/next-turn.ts'];
const MAY_NAME_ANY_PACKAGE = ['adapters/'];
/** @type {Readonly<Record<string, string>>} */
const PACKAGE_HOMES = { '@cfworker/json-schema': 'schema/' };

const COMPARES_ORDER = 'protocol/tables/features.ts';
const NAMES_REVISIONS = 'protocol/';
const REVISION = /^20\d\d-\d\d-\d\d$/;
/** Functions that tell one era from another. The two roles speak the newest revision and never ask. */
const ERA_QUESTIONS = ['has', 'within', 'mutual', 'sessionRevisions', 'newestSession'];
const NEVER_ASK_FOR_ERA = ['server/', 'client/'];

/** Known violations: printed, and not a failure. Remove a line when its file is mended. */
const NOT_YET = [
  'client/create-client.ts asks for the era',
  'client/subscriptions/listen-request.ts asks for the era',
  'connect/connect.ts uses globalThis.process',
  'connect/open/discover.ts asks for one revision',
];
const MAX_ENTRIES = 14;
const PAGE = 'docs/architecture.md';

/**
 * @typedef {{ line: number, text: string }} Failure
 * @typedef {{ to: string, line: number, loads: boolean, names: readonly string[] }} Import
 * @typedef {{ path: string, source: ts.SourceFile, imports: readonly Import[] }} Module
 */

process.chdir(root);
const modules = filesUnder('src')
  .filter((file) => file.endsWith('.ts'))
  .map((file) => readModule(file.slice('src/'.length)));
const known = new Set(modules.map(({ path }) => path));

const found = [
  ...modules.flatMap((module) =>
    [...importFailures(module), ...nodeFailures(module), ...revisionFailures(module)]
      .sort((a, b) => a.line - b.line)
      .map(({ line, text }) => `src/${module.path}:${line} ${text}`),
  ),
  ...cycleFailures(),
  ...widthFailures(),
  ...pageFailures(),
];
const isKnown = (/** @type {string} */ failure) =>
  NOT_YET.some((one) => failure.replace(/^src\/(\S+?):\d+ /, '$1 ').startsWith(one));
for (const failure of found.filter(isKnown)) console.log(`note: ${failure}`);
conclude(
  found.filter((failure) => !isKnown(failure)),
  `${modules.length} files keep their layers and rooms; no file and no folder imports itself by a way round`,
);

/** @param {string} path @returns {Module} */
function readModule(path) {
  const source = ts.createSourceFile(path, readFileSync(`src/${path}`, 'utf8'), ts.ScriptTarget.Latest, true);
  /** @type {Import[]} */
  const imports = [];
  /** @param {ts.Node | undefined} literal @param {boolean} loads @param {readonly string[]} names */
  const add = (literal, loads, names = []) => {
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
        elements.map((one) => (one.propertyName ?? one.name).text),
      );
    } else if (ts.isExportDeclaration(node) && node.moduleSpecifier !== undefined) {
      const clause = node.exportClause;
      const elements = clause && ts.isNamedExports(clause) ? [...clause.elements] : [];
      const onlyTypes = node.isTypeOnly || (elements.length > 0 && elements.every((one) => one.isTypeOnly));
      add(
        node.moduleSpecifier,
        !onlyTypes,
        elements.map((one) => (one.propertyName ?? one.name).text),
      );
    } else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) {
      add(node.argument.literal, false);
    } else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      add(node.arguments[0], true);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return { path, source, imports };
}

/** @param {Module} module @returns {Failure[]} */
function importFailures({ path, imports }) {
  return imports.flatMap(({ to, line, loads, names }) => {
    const text =
      /^(src\/|\.\.)/.test(to) || known.has(to)
        ? (layerFailure(path, to) ??
          roleFailure(path, to) ??
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
  // Entries compose; that they do not import each other in a circle is seen below.
  if (from === '') return undefined;
  const layer = LAYERS[from];
  if (layer === undefined) return `is in ${from}/, which has no row in scripts/check-layers.js. Add one.`;
  if (from !== to) {
    if (layer.may.includes(to === '' ? target : to)) return undefined;
    return `imports ${target}. ${from}/ may import ${layer.may.join(', ') || 'nothing of ours'}: move the code, or pass it in.`;
  }
  const { rooms = ['.'] } = layer;
  const [here, there] = [roomOf(file), roomOf(target)];
  if (!rooms.includes(here))
    return `is in ${from}/${here}, which is not a room of ${from} in scripts/check-layers.js. Add it.`;
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
  return `loads ${target}, which needs Node. Import only its types, and let an entry file hand in the rest.`;
}

/** @param {string} file @param {string} target @param {readonly string[]} names @returns {string | undefined} */
function eraFailure(file, target, names) {
  if (target !== COMPARES_ORDER || !startsWithAny(file, NEVER_ASK_FOR_ERA)) return undefined;
  const asked = names.filter((name) => ERA_QUESTIONS.includes(name));
  if (asked.length === 0) return undefined;
  return `asks for the era (${asked.join(', ')}). The roles know only the newest revision: let the link or the Call say it.`;
}

/** @param {Module} module @returns {Failure[]} */
function nodeFailures({ path, source }) {
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

/** @param {Module} module @returns {Failure[]} */
function revisionFailures({ path, source }) {
  if (path.startsWith(NAMES_REVISIONS)) return path === COMPARES_ORDER ? [] : orderFailures(source);
  /** @type {Failure[]} */
  const found = orderFailures(source);
  each(source, (node) => {
    // A revision in a comment is welcome, and so is one in a longer sentence.
    if (ts.isStringLiteralLike(node) && REVISION.test(node.text) && !ts.isLiteralTypeNode(node.parent))
      found.push({
        line: lineOf(source, node),
        text: `names one revision. Add a row to ${COMPARES_ORDER} and ask has(revision, feature).`,
      });
    if (!ts.isBinaryExpression(node)) return;
    const isEquality = ['===', '!==', '==', '!='].includes(node.operatorToken.getText(source));
    const sides = [node.left, node.right].map((side) => side.getText(source));
    if (
      isEquality &&
      !path.startsWith('protocol/') &&
      sides.some((side) => /\b(newest|oldest)(Revision|Session)\b/.test(side))
    )
      found.push({
        line: lineOf(source, node),
        text: `asks for one revision. Add a row to ${COMPARES_ORDER} and ask has(revision, feature).`,
      });
  });
  return found;
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

/** @returns {string[]} Circles of files and of folders, types included. Each entry file is a folder of its own. */
function cycleFailures() {
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
 * One shortest circle for each set of nodes that all reach each other.
 * @param {Map<string, Set<string>>} graph
 * @returns {string[][]}
 */
function circlesOf(graph) {
  /** @type {Set<string>} */
  const reported = new Set();
  return [...graph.keys()].sort().flatMap((start) => {
    if (reported.has(start)) return [];
    /** @type {Map<string, string>} */
    const before = new Map();
    const queue = [start];
    for (const node of queue) {
      for (const next of graph.get(node) ?? []) {
        if (next === start) {
          const circle = [start];
          for (let at = node; at !== start; at = /** @type {string} */ (before.get(at))) circle.unshift(at);
          circle.unshift(start);
          for (const one of circle) reported.add(one);
          return [circle];
        }
        if (!before.has(next)) {
          before.set(next, node);
          queue.push(next);
        }
      }
    }
    return [];
  });
}

/** @returns {string[]} Folders that nobody can take in at a glance. The entries of src are counted apart from its folders. */
function widthFailures() {
  /** @type {Map<string, Set<string>>} */
  const entries = new Map();
  for (const file of [...filesUnder('src'), ...filesUnder('test')]) {
    const parts = file.split('/');
    for (let i = 1; i < parts.length; i++) {
      const folder = parts.slice(0, i).join('/');
      const key = folder === 'src' && i === parts.length - 1 ? 'src/*.ts' : folder;
      entries.set(key, (entries.get(key) ?? new Set()).add(/** @type {string} */ (parts[i])));
    }
  }
  return [...entries].flatMap(([folder, { size }]) =>
    size > MAX_ENTRIES
      ? [`${folder} has ${size} entries; at most ${MAX_ENTRIES}. Give some of them a room.`]
      : [],
  );
}

/** @returns {string[]} */
function pageFailures() {
  const page = readFileSync(PAGE, 'utf8');
  const marked = /<!-- layers -->\n[\s\S]*?<!-- \/layers -->/;
  const table = `<!-- layers -->\n${printTable()}\n<!-- /layers -->`;
  if (!marked.test(page)) return [`${PAGE} has no <!-- layers --> … <!-- /layers -->. Add the two lines.`];
  if (page.match(marked)?.[0] === table) return [];
  if (!process.argv.includes('--write'))
    return [`The table in ${PAGE} is not the one in scripts/check-layers.js. Run it with --write.`];
  writeFileSync(
    PAGE,
    page.replace(marked, () => table),
  );
  return [];
}

function printTable() {
  const rows = Object.entries(LAYERS).map(([folder, { what, may, rooms }]) => {
    const inside =
      rooms === undefined
        ? ''
        : rooms.map((room) => (room === '.' ? 'its own files' : `\`${room}\``)).join(', ');
    return `| \`${folder}\` | ${what} | ${may.map((one) => `\`${one}\``).join(', ') || 'nothing of ours'} | ${inside} |`;
  });
  return ['| folder | what it is | may import | rooms, lowest first |', '|---|---|---|---|', ...rows].join(
    '\n',
  );
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
  while (inner && (ts.isParenthesizedExpression(inner) || ts.isAsExpression(inner))) inner = inner.expression;
  return inner !== undefined && ts.isIdentifier(inner) && inner.text === 'globalThis';
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
