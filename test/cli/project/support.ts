import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { fullmcp } from '../support/run-cli.js';

const root = fileURLToPath(new URL('../../../', import.meta.url));

/** The built command. */
export const program = join(root, 'dist/cli/fullmcp.js');

/** A folder with files, in which the packages of this repository, and fullmcp itself, can be imported. */
export async function folderWith(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'fullmcp-project-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await linkPackages(folder);
  for (const [name, text] of Object.entries({ 'package.json': '{"type":"module"}', ...files })) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text);
  }
  return folder;
}

/** Makes the packages of this repository, and fullmcp itself, available in a folder, as an install would. */
export async function linkPackages(folder: string): Promise<void> {
  await mkdir(join(folder, 'node_modules/@types'), { recursive: true });
  await symlink(root, join(folder, 'node_modules/fullmcp'));
  for (const name of ['zod', 'jiti', 'typescript', '@types/node'])
    await symlink(join(root, 'node_modules', name), join(folder, 'node_modules', name));
  await mkdir(join(folder, 'node_modules/.bin'));
  await chmod(program, 0o755);
  await symlink(program, join(folder, 'node_modules/.bin/fullmcp'));
}

interface Served {
  readonly url: string;
  /** Stops the command as Ctrl+C does, and returns its exit code. */
  readonly stop: () => Promise<number>;
}

/** Runs a command that listens, in this process, until the test ends. */
export async function serving(
  words: readonly string[],
  onStderr: (written: string) => void = () => undefined,
): Promise<Served> {
  const stopping = new AbortController();
  let found!: (url: string) => void;
  const url = new Promise<string>((resolve) => {
    found = resolve;
  });
  const ended = fullmcp(words, {
    signal: stopping.signal,
    onStderr,
    onStdout: (text) => {
      const [first] = /\b(?:http|ws):\/\/[^\s"]+/.exec(text) ?? [];
      if (first) found(first);
    },
  });
  const stop = async (): Promise<number> => {
    stopping.abort();
    return (await ended).exit;
  };
  onTestFinished(async () => {
    await stop();
  });
  const failed = ended.then(({ stderr, stdout }) => {
    throw new Error(`The command has ended: ${stderr}${stdout}`);
  });
  failed.catch(() => undefined);
  return { url: await Promise.race([url, failed]), stop };
}

/** The environment of a started program, without the settings of the test runner. */
export const plainEnv: Record<string, string | undefined> = {
  ...process.env,
  NODE_OPTIONS: '',
  VITEST: undefined,
};
