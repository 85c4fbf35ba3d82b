// The programs of the pages in JavaScript: the tested files in TypeScript, without their types, in the format of the project.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import ts from 'typescript-5.9';
import { root } from '../scripts/files.js';
import { regionOf, SNIPPET } from '../scripts/markdown.js';
import { pageOf } from './pages.js';

/** The compiler drops empty lines, so that they pass through it as comments. */
const BLANK = '//:blank';

/** @type {Map<string, string> | undefined} */
let programs;

/**
 * A region of a file in JavaScript; undefined if that is the same text, or nothing is left of it.
 * @param {string} file @param {string | undefined} region @param {string} typescript
 */
export function javascriptOf(file, region, typescript) {
  programs ??= translate(filesOfSnippets());
  const program = programs.get(file);
  if (program === undefined) return undefined;
  const lines = regionOf(program, region);
  const code =
    typeof lines === 'string'
      ? ''
      : lines
          .join('\n')
          .replace(/\n{3,}/g, '\n\n')
          .trim();
  return code === '' || code === typescript.trim() ? undefined : `${code}\n`;
}

function filesOfSnippets() {
  const files = [...pageOf.keys()].flatMap((page) =>
    readFileSync(page, 'utf8')
      .split('\n')
      .flatMap((line) => SNIPPET.exec(line)?.[1] ?? []),
  );
  return [...new Set(files)].filter((file) => /\.m?ts$/.test(file));
}

/** @param {readonly string[]} files @returns {Map<string, string>} */
function translate(files) {
  const folder = mkdtempSync(join(tmpdir(), 'fullmcp-site-'));
  try {
    const { formatter, javascript } = JSON.parse(readFileSync(join(root, 'biome.json'), 'utf8'));
    writeFileSync(join(folder, 'biome.json'), JSON.stringify({ root: true, formatter, javascript }));
    mkdirSync(join(folder, 'programs'));
    const paths = files.map((_, at) => join(folder, 'programs', `${at}.js`));
    for (const [at, path] of paths.entries()) writeFileSync(path, withoutTypes(files[at] ?? ''));
    format(folder);
    return new Map(
      paths.map((path, at) => [
        files[at] ?? '',
        readFileSync(path, 'utf8').replaceAll(/^ *\/\/:blank$/gm, ''),
      ]),
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @param {string} folder */
function format(folder) {
  const biome = join(root, 'node_modules/@biomejs/biome/bin/biome');
  const { status, stderr } = spawnSync(
    process.execPath,
    [biome, 'format', '--write', '--colors=off', 'programs'],
    {
      cwd: folder,
      encoding: 'utf8',
    },
  );
  if (status !== 0)
    throw new Error(`The programs of the pages cannot be formatted.\n${stderr.slice(0, 2000)}`);
}

/** @param {string} file */
function withoutTypes(file) {
  const { outputText } = ts.transpileModule(keepBlankLines(readFileSync(join(root, file), 'utf8')), {
    fileName: file,
    compilerOptions: {
      target: ts.ScriptTarget.ESNext,
      module: ts.ModuleKind.ESNext,
      verbatimModuleSyntax: true,
      newLine: ts.NewLineKind.LineFeed,
    },
  });
  return outputText;
}

/** @param {string} text */
function keepBlankLines(text) {
  const source = ts.createSourceFile('program.ts', text, ts.ScriptTarget.ESNext, true);
  /** @type {[from: number, to: number][]} */
  const templates = [];
  /** @param {ts.Node} node */
  const visit = (node) => {
    if (ts.isNoSubstitutionTemplateLiteral(node) || ts.isTemplateExpression(node))
      templates.push([node.getStart(), node.end]);
    else ts.forEachChild(node, visit);
  };
  visit(source);
  return text.replace(/(?<=\n)[ \t]*(?=\n)/g, (blank, /** @type {number} */ at) =>
    templates.some(([from, to]) => at > from && at < to) ? blank : BLANK,
  );
}
