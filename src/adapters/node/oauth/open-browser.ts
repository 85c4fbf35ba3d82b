import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import process from 'node:process';
import { webUrl } from '../../../protocol/checks/web-url.js';
import { McpError } from '../../../protocol/errors.js';

/**
 * Opens a URL in the system's browser. Rejects if there is no way to do so. It may resolve only when the browser is closed: some
 * systems start the browser in the foreground.
 */
export function openBrowser(url: string): Promise<void> {
  // The programs below open files and other schemes as well.
  const address = webUrl(new URL(url).href);
  if (address === undefined)
    return Promise.reject(
      new McpError('unauthorized', `A browser must not open ${new URL(url).protocol} URLs.`),
    );
  const [command, ...args] = opener();
  return new Promise((resolve, reject) => {
    const child = spawn(command as string, [...args, address.href], { stdio: 'ignore', detached: true });
    child.once('error', () => reject(noBrowser(`${command} is not available`)));
    child.once('spawn', () => child.unref());
    child.once('exit', (code) => {
      // On a computer without a screen, the program is there but finds no browser. Windows has no such exit code.
      if (code && process.platform !== 'win32') reject(noBrowser(`${command} failed with exit code ${code}`));
      else resolve();
    });
  });
}

/** The program that opens URLs. No shell is involved: a URL may contain any character. */
function opener(): readonly string[] {
  if (process.platform === 'darwin') return ['/usr/bin/open'];
  if (process.platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler'];
  // Linux inside Windows: its own browser, if it has one at all, is not the user's.
  if (process.env['WSL_DISTRO_NAME'] !== undefined && existsSync('/usr/bin/wslview'))
    return ['/usr/bin/wslview'];
  return ['xdg-open'];
}

function noBrowser(why: string): McpError {
  return new McpError(
    'unauthorized',
    `The browser cannot be opened: ${why}. Pass \`open\` to oauth() to show the user the URL, or use \`flow: 'device'\`.`,
  );
}
