// Holds the layers: who may import whom, where Node and third parties may be named, where revisions are compared.
import { readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { conclude, filesUnder, root } from './files.js';
import { globalsOf, importsOf, isPunct, tokenize } from './scan.js';

const ANYTHING = '*';
const ENTRIES = '';

/** @type {Record<string, readonly string[]>} The folders that each folder of src may import, besides itself. */
const MAY_IMPORT = {
  async: [],
  jsonrpc: [],
  schema: [],
  oauth: [],
  protocol: ['async', 'jsonrpc', 'schema'],
  middleware: ['protocol', 'jsonrpc'],
  transports: ['async', 'protocol', 'jsonrpc'],
  server: ['async', 'protocol', 'schema', 'jsonrpc'],
  client: ['async', 'protocol', 'schema', 'jsonrpc'],
  auth: ['oauth', 'protocol'],
  legacy: ['async', 'transports', 'protocol', 'jsonrpc'],
  connect: ['async', 'client', 'transports', 'legacy', 'protocol', 'jsonrpc'],
  extensions: ['async', 'server', 'client', 'protocol', 'schema', 'jsonrpc'],
  adapters: ['async', 'transports', 'protocol', 'jsonrpc', 'server', 'legacy'],
  testing: [
    ENTRIES,
    'async',
    'client',
    'connect',
    'server',
    'extensions',
    'middleware',
    'transports',
    'legacy',
    'auth',
    'oauth',
    'adapters',
    'protocol',
    'schema',
    'jsonrpc',
  ],
  cli: [ANYTHING],
  inspector: [ANYTHING],
};
const ENTRY_MAY_NOT_IMPORT = ['cli', 'inspector'];

const MAY_USE_NODE = [
  'transports/stdio/',
  'transports/stdio.ts',
  'adapters/',
  'cli/',
  'inspector/',
  'testing/',
  'testing.ts',
];
const MAY_NAME_ANY_PACKAGE = ['adapters/'];
/** @type {Record<string, string>} */
const PACKAGE_HOMES = { '@cfworker/json-schema': 'schema/' };

const COMPARES_ORDER = 'protocol/tables/features.ts';
const COMPARES_REVISIONS = 'protocol/';
const REVISION = /^20\d\d-\d\d-\d\d$/;

process.chdir(root);
const files = filesUnder('src').filter((file) => file.endsWith('.ts'));
const failures = files.flatMap((path) => {
  const file = path.slice('src/'.length);
  const tokens = tokenize(readFileSync(path, 'utf8'));
  const found = [
    ...importFailures(file, tokens),
    ...globalFailures(file, tokens),
    ...revisionFailures(file, tokens),
  ];
  return found.sort((a, b) => a.line - b.line).map(({ line, text }) => `${path}:${line} ${text}`);
});
conclude(failures, `${files.length} files keep their layers`);

/**
 * @typedef {{ line: number, text: string }} Failure
 * @typedef {import('./scan.js').Token} Token
 */

/** @param {string} file @param {Token[]} tokens @returns {Failure[]} */
function importFailures(file, tokens) {
  return importsOf(tokens).flatMap(({ specifier, line }) => {
    const text = importFailure(file, specifier);
    return text === undefined ? [] : [{ line, text }];
  });
}

/** @param {string} file @param {string} specifier @returns {string | undefined} */
function importFailure(file, specifier) {
  if (specifier.startsWith('node:')) {
    if (startsWithAny(file, MAY_USE_NODE)) return undefined;
    return `imports ${specifier}. Node built-ins belong in ${MAY_USE_NODE.join(', ')}: move it there, or use a Web API.`;
  }
  if (specifier.startsWith('.'))
    return layerFailure(file, posix.normalize(posix.join(posix.dirname(file), specifier)));
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
  const from = folderOf(file);
  const to = folderOf(target);
  if (from === '') {
    if (!ENTRY_MAY_NOT_IMPORT.includes(to)) return undefined;
    return `imports ${target}. Entry files do not import ${ENTRY_MAY_NOT_IMPORT.join(' or ')}.`;
  }
  const allowed = MAY_IMPORT[from];
  if (allowed === undefined) return `is in ${from}/, which has no row in scripts/check-layers.js. Add one.`;
  if (from === to || allowed.includes(ANYTHING) || allowed.includes(to)) return undefined;
  return `imports ${target}. ${from}/ may import ${allowed.join(', ') || 'nothing of ours'}: move the code, or pass it in.`;
}

/** @param {string} file @param {Token[]} tokens @returns {Failure[]} */
function globalFailures(file, tokens) {
  if (startsWithAny(file, MAY_USE_NODE)) return [];
  return globalsOf(tokens, 'process', 'Buffer').map(({ line, text }) => ({
    line,
    text: `uses ${text}, which only Node has. Take the value as an argument, or use a Web API.`,
  }));
}

/** @param {string} file @param {Token[]} tokens @returns {Failure[]} */
function revisionFailures(file, tokens) {
  return tokens.flatMap((token, i) => {
    const sides = [tokens[i - 1], tokens[i + 1]];
    // Formatted code has a space before a comparison and none before a type argument list.
    const ordered = token.spaced && isPunct(token, '<', '>', '<=', '>=');
    if (ordered && file !== COMPARES_ORDER && sides.some((side) => isRevision(side) || namesRevision(side))) {
      return [
        { line: token.line, text: `orders revisions. Ask has(revision, feature) of ${COMPARES_ORDER}.` },
      ];
    }
    const same = isPunct(token, '===', '!==', '==', '!=') || (token.kind === 'word' && token.text === 'case');
    if (same && !file.startsWith(COMPARES_REVISIONS) && sides.some(isRevision)) {
      return [
        {
          line: token.line,
          text: `asks for one revision. Add a row to ${COMPARES_ORDER} and ask has(revision, feature).`,
        },
      ];
    }
    return [];
  });
}

/** @param {Token | undefined} token */
function isRevision(token) {
  return (token?.kind === 'string' || token?.kind === 'template') && REVISION.test(token.text);
}

/** @param {Token | undefined} token */
function namesRevision(token) {
  return token?.kind === 'word' && /revision$/i.test(token.text);
}

/** @param {string} path */
function folderOf(path) {
  return path.includes('/') ? path.slice(0, path.indexOf('/')) : '';
}

/** @param {string} file @param {readonly string[]} prefixes */
function startsWithAny(file, prefixes) {
  return prefixes.some((prefix) => file.startsWith(prefix));
}
