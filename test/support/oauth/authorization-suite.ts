import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

// The scenarios of the conformance suite for authorization servers, as a process.

const modules = fileURLToPath(new URL('../../conformance/node_modules', import.meta.url));
const cli = join(modules, '@modelcontextprotocol/conformance/dist/index.js');
// The suite needs Node 22 or later.
const node = join(modules, 'node/bin/node');

/** Whether the suite is there. `npm run conformance` installs it. Where tests are required, its absence is a failure. */
export function hasSuite(): boolean {
  const isThere = existsSync(cli) && existsSync(node);
  if (!isThere && process.env['CI'])
    throw new Error('The conformance suite is missing. Run: npm ci --prefix test/conformance');
  return isThere;
}

/** One check of the suite. */
interface SuiteCheck {
  readonly id: string;
  readonly status: string;
  readonly errorMessage?: string;
}

/** Runs both scenarios. `open` is called with the URL that a user has to open. Returns all checks. */
export async function runAuthorizationSuite(
  options: {
    readonly issuer: string;
    readonly clientId: string;
    readonly resource: string;
    readonly port: number;
    readonly revision: string;
  },
  open: (url: string) => Promise<unknown>,
): Promise<readonly SuiteCheck[]> {
  const { issuer, clientId, resource, port, revision } = options;
  const folder = mkdtempSync(join(tmpdir(), 'authorization-suite-'));
  const args = ['authorization', '--url', issuer, '--client-id', clientId, '--resource', resource];
  const child = spawn(node, [cli, ...args, '--port', String(port), '--spec-version', revision, '-o', folder]);
  const output: string[] = [];
  try {
    const opened: Promise<unknown>[] = [];
    const ended = new Promise((resolve) => child.on('close', resolve));
    child.stderr.on('data', (chunk) => output.push(String(chunk)));
    for await (const line of createInterface(child.stdout)) {
      output.push(line);
      if (/^https?:.*response_type=code/.test(line.trim())) opened.push(open(line.trim()));
    }
    await Promise.all(opened);
    const code = await ended;
    if (code !== 0) output.push(`exit code ${code}`);
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) =>
      file.endsWith('checks.json'),
    );
    const checks = files.flatMap(
      (file) => JSON.parse(readFileSync(join(folder, file), 'utf8')) as SuiteCheck[],
    );
    if (checks.length === 0) throw new Error(`The suite checked nothing:\n${output.join('\n')}`);
    return checks;
  } finally {
    child.kill();
    rmSync(folder, { recursive: true, force: true });
  }
}
