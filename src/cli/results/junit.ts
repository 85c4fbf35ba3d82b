// The reports of requests as a JUnit file, which CI services read.

import { clean } from '../../tooling/clean.js';
import type { RequestReport } from '../../tooling/requests/run-requests.js';

/** The text of a JUnit file with one suite. */
export function junitText(suite: string, reports: readonly RequestReport[]): string {
  const failures = reports.filter(({ problems }) => problems.length > 0).length;
  const skipped = reports.filter((report) => report.skipped !== undefined).length;
  const ms = reports.reduce((sum, report) => sum + report.ms, 0);
  const counts = [
    attribute('tests', String(reports.length)),
    attribute('failures', String(failures)),
    attribute('skipped', String(skipped)),
    attribute('time', seconds(ms)),
  ].join(' ');
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites ${counts}>`,
    `  <testsuite ${attribute('name', suite)} ${counts}>`,
    ...reports.map(testCase),
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
}

function testCase({ what, name, ms, problems, skipped }: RequestReport): string {
  const title = what === 'request' ? name : `${what} ${name}`;
  const group = what === 'request' ? 'requests' : 'definitions';
  const head = `    <testcase ${attribute('classname', group)} ${attribute('name', title)} ${attribute('time', seconds(ms))}`;
  if (skipped !== undefined)
    return `${head}>\n      <skipped ${attribute('message', skipped)}/>\n    </testcase>`;
  const [first] = problems;
  if (first === undefined) return `${head}/>`;
  const says = escaped(problems.map((problem) => problem.says).join('\n'));
  return `${head}>\n      <failure ${attribute('type', first.kind)} ${attribute('message', first.says)}>${says}</failure>\n    </testcase>`;
}

function attribute(name: string, value: string): string {
  return `${name}="${escaped(value).replaceAll('\n', '&#10;').replaceAll('\t', '&#9;')}"`;
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(3);
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};

/** Text in XML, which has no place for control characters and for halves of pairs. */
function escaped(text: string): string {
  return clean(text)
    .replace(/\p{Surrogate}|[\ufffe\uffff]/gu, '\ufffd')
    .replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}
