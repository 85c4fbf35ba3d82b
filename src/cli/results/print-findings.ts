// The findings of a linter on a terminal.

import { cleanLine } from '../../tooling/clean.js';
import type { LintFinding } from '../../tooling/lint/rules.js';
import type { Output } from '../terminal/output.js';
import { wrapLine } from '../terminal/wrap.js';

const INDENT = ' '.repeat(11);

/** Prints findings on stdout, by the definition that they are about. */
export function printFindings(findings: readonly LintFinding[], out: Output): void {
  const colours = { error: 'red', warning: 'yellow', advice: 'dim' } as const;
  let last = '';
  for (const { kind, name, severity, rule, path, vendors, says, fix, source } of findings) {
    const subject = `${kind} ${cleanLine(name, 128)}`;
    if (subject !== last) out.styled(wrapLine(out.style('bold', subject), out.width, '  '));
    last = subject;
    const at = path ? ` at ${path}` : '';
    const whom = vendors.length > 0 ? ` (${vendors.join(', ')})` : '';
    const line = `  ${out.style(colours[severity], severity.padEnd(8))} ${out.style('cyan', rule)}  ${out.style('dim', `${says}${at}${whom}.`)}`;
    out.styled(wrapLine(line, out.width, INDENT));
    const advice = source === undefined ? fix : `${fix} (${source})`;
    out.styled(wrapLine(INDENT + out.style('dim', advice), out.width, INDENT));
  }
}
