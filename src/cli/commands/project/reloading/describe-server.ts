// A few lines about a server after each load: the size of its tools for a model, and the findings of `fullmcp lint`.

import type { JsonObject } from '../../../../jsonrpc/message.js';
import { cleanLine } from '../../../../tooling/clean.js';
import { lintManifest } from '../../../../tooling/lint/lint-manifest.js';
import type { LintFinding } from '../../../../tooling/lint/rules.js';
import type { Manifest } from '../../../../tooling/manifest/manifest.js';

const MAX_LINES = 60;

/**
 * Lines about the tools of a server, each with an estimate of its tokens, and about findings that some models reject or ignore. After a
 * reload, only definitions that differ from those of `before` are described.
 */
export function describeServer(manifest: Manifest, before?: Manifest): readonly string[] {
  const { findings, tokens } = lintManifest(manifest, { ignore: new Set(), maxTokens: undefined });
  const known = new Set(before?.tools.map(print));
  const changed = manifest.tools.filter((tool) => !known.has(print(tool))).map(nameOf);
  const names = new Set(manifest.tools.map(nameOf));
  const removed = (before?.tools ?? []).map(nameOf).filter((name) => !names.has(name));
  const severe = findings.filter(({ severity }) => severity !== 'advice');
  const others = before === undefined ? severe.filter(({ kind }) => kind !== 'tool') : [];
  const lines = [
    ...changed.flatMap((name) => [
      `  ${cleanLine(name, 64)}  about ${tokens.get(name) ?? 0} tokens`,
      ...severe.filter((one) => one.kind === 'tool' && one.name === name).map((one) => `    ${says(one)}`),
    ]),
    ...removed.map((name) => `  ${cleanLine(name, 64)}  removed`),
    ...others.map((one) => `  ${one.kind} ${cleanLine(one.name, 64)}: ${says(one)}`),
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

function print(tool: JsonObject): string {
  return JSON.stringify(tool);
}
