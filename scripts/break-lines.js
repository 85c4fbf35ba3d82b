// Breaks long declarations into lines, with the formatter of the project.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { root } from './files.js';

/**
 * The declarations as the formatter writes them, in one run. Each is what the reference shows: a function, a type, a constant without its
 * value, the head of an interface or of a class, or a call such as `audit(options: AuditOptions): Middleware`.
 * @param {readonly string[]} declarations
 * @returns {string[]}
 */
export function breakLines(declarations) {
  const wrapped = declarations.map(wrap);
  const input = wrapped.map(({ code }) => `${MARK}\n${code}\n`).join('');
  const biome = join(root, 'node_modules/@biomejs/biome/bin/biome');
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    [biome, 'format', '--colors=off', '--line-width=92', '--stdin-file-path=scripts/declarations.ts'],
    { cwd: root, input, encoding: 'utf8', maxBuffer: 64_000_000 },
  );
  if (status !== 0)
    throw new Error(`The declarations of the reference cannot be formatted.\n${stderr.slice(0, 2000)}`);
  const formatted = stdout.split(`${MARK}\n`).slice(1);
  if (formatted.length !== wrapped.length)
    throw new Error('The formatter returned another number of declarations.');
  return wrapped.map(({ unwrap }, at) => unwrap((formatted[at] ?? '').trim()));
}

const MARK = '// --- next declaration ---';

/**
 * A statement that the formatter can read, and the way back.
 * @param {string} text
 * @returns {{ code: string, unwrap: (formatted: string) => string }}
 */
function wrap(text) {
  const [word = ''] = /^\w+/.exec(text) ?? [];
  const before = ['function', 'type', 'interface', 'class'].includes(word)
    ? 'declare '
    : word === 'const' && !/^const\(|^const</.test(text)
      ? 'declare '
      : 'declare function ';
  const after = word === 'interface' || word === 'class' ? ' {}' : ';';
  return {
    code: `${before}${text}${after}`,
    unwrap: (formatted) => formatted.slice(before.length).replace(/( \{\}|;)$/, ''),
  };
}
