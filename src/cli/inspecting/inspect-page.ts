// `fullmcp inspect`: the inspector until the user stops it.

import process from 'node:process';
import { fragmentOf } from '../../inspector/host/fragment.js';
import type { Typed } from '../command/definition.js';
import { usageError } from '../command/failures.js';
import { wholeNumber } from '../command/parse.js';
import { withSignals } from '../command/with-signals.js';
import { startInspector } from './start-inspector.js';
import { typedTarget } from './typed-target.js';

/** Prints the address of the page, opens it, and serves until the user stops it or the process is told to end. */
export async function inspectPage(input: Typed): Promise<void> {
  await withSignals(input.signal, (signal) => inspectUntil(signal, input));
}

async function inspectUntil(signal: AbortSignal, input: Typed): Promise<void> {
  const { out } = input;
  if (input.text('output') !== undefined)
    throw usageError('--output is for the manifest: fullmcp manifest <target> -o <file>');
  const place = await typedTarget(input);
  const tool = input.text('tool');
  const { words = [] } = place ?? {};
  const values = words.map(formValue);
  if (values.length > 0 && tool === undefined)
    throw usageError(`${JSON.stringify(words[0])} needs a tool: add --tool <name>.`);
  const started = await startInspector({
    ...place,
    tool,
    port: wholeNumber(input, 'port', [0, 65_535]),
    config: input.text('config'),
    hasHistory: !input.flag('no-history'),
  });
  try {
    const url = `${started.url}${fragmentOf(tool, values)}`;
    out.json({ ok: true, url, port: started.port });
    out.value(url);
    if (!out.isJson) out.note('The inspector runs until you press Ctrl+C.');
    if (!input.flag('no-open')) showPage(url, input);
    await aborted(signal);
  } finally {
    await started.close();
  }
}

/** An argument for the form. The page reads it by the schema of the tool. */
function formValue(word: string): readonly [string, string] {
  const at = word.indexOf('=');
  if (at > 0) return [word.slice(0, at), word.slice(at + 1)];
  throw usageError(`${JSON.stringify(word)} is not name=value.`);
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

type Environment = Readonly<Record<string, string | undefined>>;

/** False in CI, over SSH without a display, and on Linux without a desktop session. */
export function hasBrowser(
  env: Environment = process.env,
  platform: NodeJS.Platform = process.platform,
): boolean {
  if ((env['CI'] ?? '') !== '' && env['CI'] !== 'false') return false;
  const hasDisplay = Boolean(env['DISPLAY'] || env['WAYLAND_DISPLAY']);
  const isRemote = Boolean(env['SSH_CONNECTION'] || env['SSH_TTY']);
  if (isRemote) return hasDisplay;
  if (platform === 'darwin' || platform === 'win32') return true;
  return hasDisplay || env['WSL_DISTRO_NAME'] !== undefined;
}

/** Opens the page if there is a browser and a person at the terminal. The address was printed before. */
export function showPage(url: string, { out, person }: Pick<Typed, 'out' | 'person'>): void {
  if (!out.isWatched || !hasBrowser()) return;
  // Some systems start the browser in the foreground, so it is not waited for.
  person()
    .openPage(url)
    .catch(() => out.note('The browser does not start. Open the address yourself.'));
}
