// Compares the default of every option in its table with the "Default: …" of its doc comment.
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import ts from 'typescript-5.9';
import { splitDefault } from './declaration-text.js';
import { filesUnder, root } from './files.js';

/**
 * @typedef {object} Members
 * @property {Map<string, string>} docs The comment of each member.
 * @property {string[]} parents The interfaces whose members it has, too.
 */

const UNITS = { ms: 1, s: 1000, second: 1000, minute: 60_000, hour: 3_600_000, day: 86_400_000 };
const NUMBER = /^(one|[\d.,]+)(?: (ms|s|seconds?|minutes?|hours?|days?|characters|[kMG]B))?(?=$|[\s,;])/;

/** @returns {{ compared: number, failures: string[] }} */
export function compareDefaults() {
  const sources = filesUnder('src')
    .filter((file) => file.endsWith('.ts'))
    .map((file) => ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true));
  /** @type {Map<string, Members>} */
  const interfaces = new Map();
  for (const source of sources)
    for (const node of source.statements)
      if (ts.isInterfaceDeclaration(node)) interfaces.set(node.name.text, membersOf(node));
  /** @type {string[]} */
  const failures = [];
  let compared = 0;
  for (const source of sources)
    for (const { node, table, owner } of tablesIn(source))
      for (const [name, value] of defaultsIn(table, source)) {
        const written = splitDefault(docOf(interfaces, owner, name) ?? '').fallback;
        const documented = readDefault(written, { name, value });
        if (documented === undefined) continue;
        compared++;
        if (!documented.includes(value))
          failures.push(
            `${relative(root, source.fileName)}: the default of ${owner}.${name} is ${JSON.stringify(value)}, but its comment says "Default: ${written}." (${lineOf(source, node)})`,
          );
      }
  return { compared, failures };
}

/** @param {ts.InterfaceDeclaration} node @returns {Members} */
function membersOf(node) {
  const docs = new Map();
  for (const member of node.members) {
    const name = member.name && ts.isIdentifier(member.name) ? member.name.text : undefined;
    if (name !== undefined) docs.set(name, commentOf(member));
  }
  // `extends Omit<ClientOptions, 'caller'>` has the members of ClientOptions.
  const parents = (node.heritageClauses ?? []).flatMap(({ types }) =>
    types.flatMap((type) => [
      type.expression.getText(),
      ...(type.typeArguments ?? []).map((each) => each.getText()),
    ]),
  );
  return { docs, parents };
}

/** @param {ts.Node} node */
function commentOf(node) {
  const comments = /** @type {ts.JSDoc[]} */ (ts.getJSDocCommentsAndTags(node).filter(ts.isJSDoc));
  return comments
    .map(({ comment }) => ts.getTextOfJSDocComment(comment) ?? '')
    .join(' ')
    .replaceAll(/\s+/g, ' ');
}

/** @param {Map<string, Members>} interfaces @param {string} owner @param {string} name @returns {string | undefined} */
function docOf(interfaces, owner, name) {
  const found = interfaces.get(owner);
  if (found === undefined) return undefined;
  return (
    found.docs.get(name) ??
    found.parents.map((each) => docOf(interfaces, each, name)).find((doc) => doc !== undefined)
  );
}

/**
 * The tables of a file: those with `satisfies OptionTable<…>`, and those whose comment says "The table of `…`".
 *
 * @param {ts.SourceFile} source
 */
function tablesIn(source) {
  return source.statements.filter(ts.isVariableStatement).flatMap((statement) =>
    statement.declarationList.declarations.flatMap((node) => {
      /** @type {ts.Expression | undefined} */
      let value = node.initializer;
      let owner = /The table of `(\w+)`/.exec(commentOf(statement))?.[1];
      while (value && (ts.isSatisfiesExpression(value) || ts.isAsExpression(value))) {
        owner ??= /^OptionTable<\s*(\w+)/.exec(
          ts.isSatisfiesExpression(value) ? value.type.getText() : '',
        )?.[1];
        value = value.expression;
      }
      return owner && value && ts.isObjectLiteralExpression(value) ? [{ node, table: value, owner }] : [];
    }),
  );
}

/** @param {ts.ObjectLiteralExpression} table @param {ts.SourceFile} source @returns {[string, unknown][]} */
function defaultsIn(table, source) {
  return table.properties.filter(ts.isPropertyAssignment).flatMap(({ name, initializer }) => {
    if (!ts.isObjectLiteralExpression(initializer)) return [];
    const entry = initializer.properties
      .filter(ts.isPropertyAssignment)
      .find((each) => each.name.getText() === 'default');
    const value = entry && evaluate(entry.initializer, source);
    return value === undefined ? [] : [[name.getText(), value]];
  });
}

/** @param {ts.Expression} node @param {ts.SourceFile} source @returns {string | number | boolean | undefined} */
function evaluate(node, source) {
  if (ts.isNumericLiteral(node)) return Number(node.text);
  if (ts.isStringLiteral(node)) return node.text;
  if (node.kind === ts.SyntaxKind.TrueKeyword) return true;
  if (node.kind === ts.SyntaxKind.FalseKeyword) return false;
  if (ts.isBinaryExpression(node)) {
    const [left, right] = [Number(evaluate(node.left, source)), Number(evaluate(node.right, source))];
    const isPower = node.operatorToken.kind === ts.SyntaxKind.AsteriskAsteriskToken;
    return isPower ? left ** right : left * right;
  }
  const declared = source.statements
    .filter(ts.isVariableStatement)
    .flatMap((each) => [...each.declarationList.declarations])
    .find((each) => ts.isIdentifier(node) && each.name.getText() === node.text);
  return declared?.initializer && evaluate(declared.initializer, source);
}

/**
 * The values that a written default may stand for; undefined if it is not a value. After "`PORT`, then 3000" it is 3000, and "100 in
 * memory, 200 on disk" has two.
 *
 * @param {string} written
 * @param {{ name: string, value: unknown }} option
 */
function readDefault(written, { name, value }) {
  const text = written.replace(/^.*\bthen /, '');
  const [, inside] = /^[`'"]([^`'"]+)[`'"]/.exec(text) ?? [];
  if (inside !== undefined) return [inside];
  if (/^(true|false)\b/.test(text)) return [text.startsWith('true')];
  const parts = text.split(/, (?:or )?(?!\d{3})/);
  const numbers = parts.flatMap((part) => numbersIn(part, /Seconds$|In$/.test(name)));
  return numbers.length === 0 || typeof value !== 'number' ? undefined : numbers;
}

/** @param {string} text @param {boolean} isInSeconds */
function numbersIn(text, isInSeconds) {
  const [, number, unit = ''] = NUMBER.exec(text) ?? [];
  if (number === undefined) return [];
  const amount = number === 'one' ? 1 : Number(number.replaceAll(',', ''));
  // A size may be a power of two or of ten.
  if (/^[kMG]B$/.test(unit))
    return [1000, 1024].map((base) => amount * base ** ' kMG'.indexOf(unit.slice(0, 1)));
  const ms = UNITS[/** @type {keyof typeof UNITS} */ (unit.replace(/(?<=\w)s$/, ''))] ?? 1;
  return [isInSeconds && ms >= 1000 ? (amount * ms) / 1000 : amount * ms];
}

/** @param {ts.SourceFile} source @param {ts.Node} node */
function lineOf(source, node) {
  return `line ${source.getLineAndCharacterOfPosition(node.getStart()).line + 1}`;
}
