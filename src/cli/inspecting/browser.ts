// Opens the page of the inspector where a person would see it.

import process from 'node:process';
import type { Typed } from '../command/definition.js';

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
