// @ts-check
// Runs the official conformance suite against server.js and client.js, or against the one of them that the first argument names
// (`npm run conformance -- client`). `proxy` tests server.js through a proxy that speaks the era
// of the scenario with it, or the revision in the second argument. One line per scenario; any failure or warning fails the
// run.
import { recordText } from '../../scripts/records.js';
import { alone, alwaysSkipped, claimedFor } from './claims.js';
import {
  CLIENT_COMMAND,
  prepare,
  runAll,
  runScenario,
  scenariosOf,
  startProxy,
  startServer,
} from './suite.js';

/** @typedef {import('./claims.js').Role} Role */

const REVISIONS = ['2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28'];
/** Each client scenario brings its own server. The few server scenarios that do not run all at once share one server. */
const AT_A_TIME = { server: 1, client: 2 };

const isProxied = process.argv[2] === 'proxy';
const roles = rolesFrom(isProxied ? 'server' : process.argv[2]);
prepare();
const scenariosByRole = { server: await scenariosOf('server'), client: await scenariosOf('client') };
const proxied = process.argv.slice(3);
const server = await (isProxied ? startProxy(...proxied) : startServer());
// A server of today cannot tell a proxy that it releases a connection, as scenarios of older revisions want it.
const older = isProxied && proxied.length === 0 ? await startProxy('2025-11-25') : server;
let failed = false;
let warnings = 0;
/** @type {string[]} */
const scores = [];
try {
  for (const role of roles) scores.push(`${role} ${await runRole(role)}`);
} finally {
  server.kill();
  older.kill();
}

if (failed) {
  process.exitCode = 1;
  if (server.errors() !== '') console.log(`\nThe server wrote to stderr:\n${server.errors()}`);
}
const last = `conformance: ${scores.join('; ')}; warnings ${warnings}`;
console.log(last);
if (process.env['RECORD'] && !isProxied && roles.length === 2) recordText('conformance', last);

/**
 * @param {string | undefined} role
 * @returns {Role[]}
 */
function rolesFrom(role) {
  if (role === undefined) return ['server', 'client'];
  if (role === 'server' || role === 'client') return [role];
  console.error(`"${role}" is not a role. Pass "server", "client" or "proxy", or nothing for the first two.`);
  process.exit(2);
}

/**
 * Runs the claimed scenarios of one role, and returns how many pass on the revisions that the suite covers.
 * @param {Role} role
 */
async function runRole(role) {
  /** @type {Record<string, string>} */
  const held = {};
  for (const revision of REVISIONS) held[revision] = await runRevision(role, revision);
  return `2025-11-25 ${held['2025-11-25']}, 2026-07-28 ${held['2026-07-28']}`;
}

/**
 * Runs the claimed scenarios of one revision and returns how many pass, as "28/29".
 * @param {Role} role
 * @param {string} revision
 */
async function runRevision(role, revision) {
  const claimed = claimedFor(role, revision);
  let held = 0;
  const known = role === 'server' ? await runAll(optionsFor(role, revision)) : new Map();
  for (const batch of batches(claimed, AT_A_TIME[role])) {
    const results = await Promise.all(
      batch.map((scenario) => known.get(scenario) ?? run(scenario, role, revision)),
    );
    for (const [index, result] of results.entries()) {
      warnings += result.warned;
      if (result.holds) held += 1;
      else failed = true;
      report(`${role} ${revision} ${batch[index]}`, result);
    }
  }
  for (const { name } of scenariosByRole[role].filter(({ revisions }) => revisions.includes(revision))) {
    if (claimed.includes(name)) continue;
    failed = true;
    console.log(`FAIL  ${role} ${revision} ${name}: not claimed. Add it to claims.js.`);
  }
  return `${held}/${claimed.length}`;
}

/**
 * @param {string} scenario
 * @param {Role} role
 * @param {string} revision
 */
function run(scenario, role, revision) {
  const isIt = (/** @type {{ name: string, extension: boolean }} */ { name, extension }) =>
    name === scenario && extension;
  const options = optionsFor(role, revision);
  return runScenario(scenario, { ...options, extension: scenariosByRole[role].some(isIt) });
}

/**
 * @param {Role} role
 * @param {string} revision
 * @returns {import('./suite.js').RunOptions}
 */
function optionsFor(role, revision) {
  const { url } = revision === '2026-07-28' ? server : older;
  return {
    role,
    revision,
    under: role === 'client' ? ['--command', CLIENT_COMMAND] : ['--url', url],
    maySkip: (scenario) => alwaysSkipped.includes(scenario),
  };
}

/**
 * @param {string[]} scenarios
 * @param {number} atATime
 */
function batches(scenarios, atATime) {
  const together = scenarios.filter((scenario) => !alone.includes(scenario));
  const rest = scenarios.filter((scenario) => alone.includes(scenario)).map((scenario) => [scenario]);
  const count = Math.ceil(together.length / atATime);
  const full = Array.from({ length: count }, (_, n) => together.slice(n * atATime, (n + 1) * atATime));
  return [...full, ...rest];
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
