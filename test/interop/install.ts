import { execFile } from 'node:child_process';
import { copyFile, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { TestProject } from 'vitest/node';

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const stamp = '.lock-that-was-installed';

/** The folders with their own peers, and the tests that need them. */
const homes = [
  {
    folder: here('.'),
    tests: [
      here('.'),
      here('../cli/check/peers.test.ts'),
      here('../cli/check/record.test.ts'),
      here('../cli/check/replay.test.ts'),
      here('../cli/conformance/'),
      here('../cli/operate/bench.test.ts'),
      here('../cli/operate/doctor.test.ts'),
      here('../cli/operate/proxy.test.ts'),
      here('../cli/project/dev.test.ts'),
      here('../cli/share/generate.test.ts'),
      here('../cli/share/peers.test.ts'),
      here('../cli/use/peers.test.ts'),
      here('../flows/cluster/'),
      here('../flows/proxy/gateway.test.ts'),
      here('../flows/proxy/official-clients.test.ts'),
      here('../flows/sessions/clients.test.ts'),
      here('../inspector/page/peers.test.ts'),
      here('../inspector/session/foreign-servers.test.ts'),
      here('../browser/apps/'),
      here('../openapi/large-lists.test.ts'),
    ],
  },
  { folder: here('../../examples/migration/'), tests: [here('migration.test.ts')] },
  { folder: here('../runtimes/'), tests: [here('../runtimes/')] },
  { folder: here('../hosts/'), tests: [here('../hosts/')] },
  { folder: here('../oldest-node/'), tests: [here('../oldest-node/')] },
  {
    folder: here('../conformance/'),
    tests: [here('../browser/oauth-proxy.test.ts'), here('../cli/conformance/')],
  },
];

/** Installs the peers before the tests that need them. Does nothing if no test of the run needs them. */
export default async function install(project: TestProject): Promise<void> {
  // Vitest calls this for the root and for each project. The root knows the files of the whole run.
  if (!project.isRootProject()) return;
  for (const folder of foldersFor(project.vitest.state.getPaths())) await installIn(folder);
}

/** The folders whose peers these tests need. */
export function foldersFor(files: readonly string[]): string[] {
  return homes
    .filter(({ tests }) => files.some((file) => tests.some((path) => file.startsWith(path))))
    .map(({ folder }) => folder);
}

async function installIn(folder: string): Promise<void> {
  const installed = join(folder, 'node_modules');
  const lock = await readFile(join(folder, 'package-lock.json'), 'utf8');
  if (await isInstalled(installed, lock)) return;
  console.log(`Installing the peers of ${folder}…`);
  // Installed elsewhere and moved into place as a whole, so that concurrent runs do not see half an installation.
  const workshop = await mkdtemp(fileURLToPath(new URL('../../node_modules/.interop-', import.meta.url)));
  try {
    for (const file of ['package.json', 'package-lock.json']) {
      await copyFile(join(folder, file), join(workshop, file));
    }
    await npmCi(workshop);
    await writeFile(join(workshop, 'node_modules', stamp), lock);
    if (await isInstalled(installed, lock)) return;
    await rm(installed, { recursive: true, force: true });
    await rename(join(workshop, 'node_modules'), installed);
  } finally {
    await rm(workshop, { recursive: true, force: true });
  }
}

async function isInstalled(installed: string, lock: string): Promise<boolean> {
  const installedLock = await readFile(join(installed, stamp), 'utf8').catch(() => undefined);
  return installedLock === lock;
}

async function npmCi(prefix: string): Promise<void> {
  try {
    await promisify(execFile)(
      'npm',
      ['ci', '--prefix', prefix, '--no-audit', '--no-fund', '--no-ignore-scripts'],
      {
        shell: process.platform === 'win32',
      },
    );
  } catch (error) {
    const { stderr = '' } = error as { stderr?: string };
    throw new Error(`The peers could not be installed:\n${stderr}`, { cause: error });
  }
}
