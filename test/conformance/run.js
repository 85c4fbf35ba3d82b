// @ts-check
// Runs the official conformance suite against server.js. One line per scenario; any failure or warning fails the run.
import { prepare, runScenario, scenariosOf, startFixture } from './suite.js';

/** What fullmcp claims: every check of these scenarios holds, on each of these revisions. */
const CLAIMED = [
  {
    revisions: ['2025-06-18', '2025-11-25', '2026-07-28'],
    scenarios: [
      'completion-complete',
      'tools-list',
      'tools-call-simple-text',
      'tools-call-image',
      'tools-call-audio',
      'tools-call-embedded-resource',
      'tools-call-mixed-content',
      'tools-call-error',
      'tools-call-with-progress',
      'resources-list',
      'resources-read-text',
      'resources-read-binary',
      'resources-templates-read',
      'prompts-list',
      'prompts-get-simple',
      'prompts-get-with-args',
      'prompts-get-embedded-resource',
      'prompts-get-with-image',
    ],
  },
  {
    revisions: ['2025-03-26', '2025-06-18', '2025-11-25'],
    scenarios: ['server-session-lifecycle'],
  },
  {
    revisions: ['2025-06-18', '2025-11-25'],
    scenarios: [
      'server-initialize',
      'logging-set-level',
      'ping',
      'tools-call-with-logging',
      'tools-call-sampling',
      'tools-call-elicitation',
      'resources-subscribe',
      'resources-unsubscribe',
    ],
  },
  {
    revisions: ['2025-11-25'],
    scenarios: ['server-sse-polling', 'elicitation-sep1034-defaults', 'elicitation-sep1330-enums'],
  },
  {
    revisions: ['2025-11-25', '2026-07-28'],
    scenarios: ['json-schema-2020-12', 'server-sse-multiple-streams', 'dns-rebinding-protection'],
  },
  {
    revisions: ['2026-07-28'],
    scenarios: [
      'server-stateless',
      'sep-2164-resource-not-found',
      'caching',
      'http-header-validation',
      'http-custom-header-server-validation',
      'input-required-result-basic-elicitation',
      'input-required-result-basic-sampling',
      'input-required-result-basic-list-roots',
      'input-required-result-request-state',
      'input-required-result-multiple-input-requests',
      'input-required-result-multi-round',
      'input-required-result-missing-input-response',
      'input-required-result-non-tool-request',
      'input-required-result-result-type',
      'input-required-result-unsupported-methods',
      'input-required-result-tampered-state',
      'input-required-result-capability-check',
      'input-required-result-ignore-extra-params',
      'input-required-result-validate-input',
      'tasks-lifecycle',
      'tasks-capability-negotiation',
      'tasks-wire-fields',
      'tasks-request-state-removal',
      'tasks-mrtr-input',
      'tasks-request-headers',
      'tasks-dispatch-and-envelope',
      'tasks-status-notifications',
      'tasks-required-task-error',
      'tasks-mrtr-composition',
    ],
  },
];

/** What the suite always skips, whatever the server does. A skip, and nothing else, holds for these. */
const ALWAYS_SKIPPED = ['tasks-status-notifications'];

/** What the suite also knows and fullmcp does not do yet. */
const NOT_YET = [/^sep-2640-skills-/];

const REVISIONS = ['2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28'];

prepare();
const known = await scenariosOf();
const fixture = await startFixture();
let failed = false;
let warnings = 0;
/** @type {Record<string, string>} */
const scores = {};
try {
  for (const revision of REVISIONS) scores[revision] = await runRevision(revision);
} finally {
  fixture.kill();
}

if (failed) {
  process.exitCode = 1;
  if (fixture.said() !== '') console.log(`\nThe server said:\n${fixture.said()}`);
}
console.log(
  `conformance: server 2025-11-25 ${scores['2025-11-25']}, 2026-07-28 ${scores['2026-07-28']}; ` +
    `client 2025-11-25 0/0, 2026-07-28 0/0; warnings ${warnings}`,
);

/**
 * Runs what is claimed for one revision and returns how much of it holds, as "28/29".
 * @param {string} revision
 */
async function runRevision(revision) {
  const claimed = CLAIMED.filter(({ revisions }) => revisions.includes(revision)).flatMap(
    ({ scenarios }) => scenarios,
  );
  let held = 0;
  for (const scenario of claimed) {
    const result = await runScenario(scenario, {
      revision,
      url: fixture.url,
      extension: known.some(({ name, extension }) => name === scenario && extension),
      maySkip: ALWAYS_SKIPPED.includes(scenario),
    });
    warnings += result.warned;
    if (result.holds) held += 1;
    else failed = true;
    report(`server ${revision} ${scenario}`, result);
  }
  for (const { name } of known.filter(({ revisions }) => revisions.includes(revision))) {
    if (claimed.includes(name)) continue;
    if (isNotYet(name)) console.log(`-     server ${revision} ${name}: not yet`);
    else {
      failed = true;
      console.log(`FAIL  server ${revision} ${name}: neither claimed nor listed as not yet`);
    }
  }
  return `${held}/${claimed.length}`;
}

/** @param {string} name */
function isNotYet(name) {
  return NOT_YET.some((entry) => entry.test(name));
}

/**
 * @param {string} title
 * @param {import('./suite.js').Result} result
 */
function report(title, { holds, passed, failed, warned, skipped, details }) {
  const counts = [
    `${passed} passed`,
    failed > 0 && `${failed} failed`,
    warned > 0 && `${warned} warned`,
    skipped > 0 && `${skipped} skipped`,
  ];
  console.log(`${holds ? 'ok  ' : 'FAIL'}  ${title}: ${counts.filter(Boolean).join(', ')}`);
  for (const line of details) console.log(`        ${line}`);
}
