import { spawn } from 'node:child_process';

/** Opens a page where a person would see it: not in CI, not over SSH, not without a desktop session. */
export function openInBrowser(url: string): void {
  const { CI, DISPLAY, WAYLAND_DISPLAY, SSH_CONNECTION } = process.env;
  const hasDisplay = Boolean(DISPLAY || WAYLAND_DISPLAY);
  const isDesktop = process.platform === 'darwin' || process.platform === 'win32' || hasDisplay;
  if (CI || !process.stdout.isTTY || !isDesktop || (SSH_CONNECTION && !hasDisplay)) return;
  const [command = '', ...args] = opener();
  const child = spawn(command, [...args, url], { stdio: 'ignore', detached: true });
  // The address was printed.
  child.on('error', () => undefined);
  child.unref();
}

function opener(): readonly string[] {
  if (process.platform === 'darwin') return ['open'];
  return process.platform === 'win32' ? ['rundll32', 'url.dll,FileProtocolHandler'] : ['xdg-open'];
}
