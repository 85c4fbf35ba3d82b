// Results as a JUnit file, which CI services read.

import { clean } from '../../tooling/clean.js';

/** A test in a JUnit file. */
export interface JUnitCase {
  readonly group: string;
  readonly name: string;
  readonly ms: number;
  /** The reasons why the test failed; none if it passed. */
  readonly problems: readonly { readonly kind: string; readonly says: string }[];
  /** The reason why the test did not run. */
  readonly skipped?: string | undefined;
}

/** The text of a JUnit file with one suite. */
export function junitText(suite: string, cases: readonly JUnitCase[]): string {
  const failures = cases.filter(({ problems }) => problems.length > 0).length;
  const skipped = cases.filter((one) => one.skipped !== undefined).length;
  const ms = cases.reduce((sum, one) => sum + one.ms, 0);
  const counts = [
    attribute('tests', String(cases.length)),
    attribute('failures', String(failures)),
    attribute('skipped', String(skipped)),
    attribute('time', seconds(ms)),
  ].join(' ');
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites ${counts}>`,
    `  <testsuite ${attribute('name', suite)} ${counts}>`,
    ...cases.map(testCase),
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
}

function testCase({ group, name, ms, problems, skipped }: JUnitCase): string {
  const head = `    <testcase ${attribute('classname', group)} ${attribute('name', name)} ${attribute('time', seconds(ms))}`;
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
