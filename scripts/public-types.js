// The public types of the package, as the compiler sees them: the declaration files behind package.json's exports.
import { join, posix, sep } from 'node:path';
import ts from 'typescript-5.9';
import { readManifest, root } from './files.js';

/**
 * @typedef {object} Entry
 * @property {string} specifier The name that a program imports: `fullmcp/client`.
 * @property {ts.Symbol[]} exports
 */

/** @returns {{ checker: ts.TypeChecker, entries: Entry[] }} */
export function readPublicTypes() {
  const { name, exports } = readManifest(root);
  const files = Object.entries(exports).flatMap(([path, entry]) =>
    typeof entry === 'object' ? [{ specifier: posix.join(name, path), file: join(root, entry.types) }] : [],
  );
  const program = ts.createProgram(
    files.map(({ file }) => file),
    {
      module: ts.ModuleKind.NodeNext,
      target: ts.ScriptTarget.ES2023,
      strict: true,
      noEmit: true,
      types: ['node'],
    },
  );
  const checker = program.getTypeChecker();
  const entries = files.map(({ specifier, file }) => {
    const source = program.getSourceFile(file);
    const module = source && checker.getSymbolAtLocation(source);
    if (module === undefined) throw new Error(`${file} does not exist. Run \`npm run build\`.`);
    return { specifier, exports: checker.getExportsOfModule(module) };
  });
  return { checker, entries };
}

const dist = join(root, 'dist') + sep;

/** @param {ts.Node} node */
export function isOurs(node) {
  return join(node.getSourceFile().fileName).startsWith(dist);
}

/** @param {ts.Declaration} declaration */
export function isPrivate(declaration) {
  return Boolean(ts.getCombinedModifierFlags(declaration) & ts.ModifierFlags.Private);
}

/**
 * The doc comment of a declaration: its text, and the code of its examples.
 * @param {ts.Declaration} declaration
 * @returns {{ text: string, examples: string[] }}
 */
export function docOf(declaration) {
  const node = ts.isVariableDeclaration(declaration) ? declaration.parent.parent : declaration;
  const docs = ts.getJSDocCommentsAndTags(node).filter(ts.isJSDoc);
  const doc = docs.at(-1);
  return {
    text: (ts.getTextOfJSDocComment(doc?.comment) ?? '').trim(),
    examples: (doc?.tags ?? [])
      .filter((tag) => tag.tagName.text === 'example')
      .map((tag) => withoutFence(ts.getTextOfJSDocComment(tag.comment) ?? '')),
  };
}

/** @param {string} code */
function withoutFence(code) {
  return code
    .trim()
    .replace(/^```\w*\n/, '')
    .replace(/\n```$/, '');
}
