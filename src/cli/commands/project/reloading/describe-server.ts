// The lines of `fullmcp dev` about a server: one after the first load, and after each later one only the changes.

import type { JsonObject } from '../../../../jsonrpc/message.js';
import { cleanLine } from '../../../../tooling/clean.js';
import { type Linted, lintManifest } from '../../../../tooling/lint/lint-manifest.js';
import type { LintFinding } from '../../../../tooling/lint/rules.js';
import type { Manifest } from '../../../../tooling/manifest/manifest.js';

const MAX_LINES = 40;

/** All findings about a server. */
export function lintedServer(manifest: Manifest): Linted {
  return lintManifest(manifest, { ignore: new Set(), maxTokens: undefined });
}

/** The tools, their tokens and the findings in a few words, as in `2 tools, about 120 tokens, 1 warning`. */
export function summaryOf(manifest: Manifest): string {
  const { findings, total } = lintedServer(manifest);
  const count = (severity: LintFinding['severity']): number =>
    findings.filter((one) => one.severity === severity).length;
  const [errors, warnings] = [count('error'), count('warning')];
  return [
    counted(manifest.tools.length, 'tool'),
    `about ${total} tokens`,
    ...(errors > 0 ? [counted(errors, 'error')] : []),
    ...(warnings > 0 ? [counted(warnings, 'warning')] : []),
  ].join(', ');
}

/** Whether a server has a finding that some models reject or ignore. */
export function hasFindings(manifest: Manifest): boolean {
  return lintedServer(manifest).findings.some(({ severity }) => severity !== 'advice');
}

/** Lines about the tools that differ from those of `before`, with the findings about them that some models reject or ignore. */
export function changesOf(manifest: Manifest, before: Manifest): readonly string[] {
  const { findings, tokens } = lintedServer(manifest);
  const known = new Map(before.tools.map((tool) => [nameOf(tool), JSON.stringify(tool)]));
  const names = new Set(manifest.tools.map(nameOf));
  const changed = manifest.tools
    .filter((tool) => known.get(nameOf(tool)) !== JSON.stringify(tool))
    .map(nameOf);
  const lines = [
    ...changed.flatMap((name) => [
      `  ${known.has(name) ? '~' : '+'} ${cleanLine(name, 64)}  about ${tokens.get(name) ?? 0} tokens`,
      ...findings
        .filter((one) => one.kind === 'tool' && one.name === name && one.severity !== 'advice')
        .map((one) => `    ${says(one)}`),
    ]),
    ...[...known.keys()].filter((name) => !names.has(name)).map((name) => `  - ${cleanLine(name, 64)}`),
  ];
  if (lines.length <= MAX_LINES) return lines;
  return [...lines.slice(0, MAX_LINES), `  … ${lines.length - MAX_LINES} lines more. See: fullmcp lint`];
}

function says({ severity, vendors, says: text, path, fix }: LintFinding): string {
  const at = path ? ` at ${path}` : '';
  const whom = vendors.length > 0 ? ` (${vendors.join(', ')})` : '';
  return cleanLine(`${severity}: ${text}${at}${whom}. ${fix}`, 300);
}

function nameOf(tool: JsonObject): string {
  return String(tool['name']);
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
