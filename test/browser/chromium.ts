import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import process from 'node:process';
import { type Browser, chromium } from 'playwright-core';
import { describe } from 'vitest';

const whole = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
// The same engine without windows, which takes half of the CPU time.
const shell = 'chromium-headless-shell';
const missing =
  'The browser tests need Chromium. Install it (on Debian: apt-get install chromium chromium-headless-shell), or set CHROMIUM_PATH to its path.';

/** The first of these browsers that is on this machine, or undefined. Where browser tests are required, its absence is a failure. */
function findChromium(names: readonly string[]): string | undefined {
  const path = process.env['CHROMIUM_PATH'];
  if (path) {
    if (isExecutable(path)) return path;
    throw new Error(`CHROMIUM_PATH is ${path}, which cannot be started. ${missing}`);
  }
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  const installed = names.flatMap((name) => folders.map((folder) => join(folder, name))).find(isExecutable);
  if (installed !== undefined) return installed;
  if (process.env['CI']) throw new Error(missing);
  console.warn(`Skipped: ${missing}`);
  return undefined;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

const paths = { any: findChromium([shell, ...whole]), whole: findChromium(whole) };

/** A `describe` that is skipped where there is no Chromium. */
export const describeInChromium = describe.skipIf(paths.any === undefined);

/** A `describe` for what only the whole browser has, such as the policies that keep an app from WebRTC. */
export const describeInWholeChromium = describe.skipIf(paths.whole === undefined);

/** The name of a website that resolves to this machine, in this browser only. */
export const WEBSITE = 'app.example.com';

export function launch(kind: keyof typeof paths = 'any'): Promise<Browser> {
  const executablePath = paths[kind];
  return chromium.launch({
    ...(executablePath !== undefined && { executablePath }),
    args: [
      `--host-resolver-rules=MAP ${WEBSITE} 127.0.0.1`,
      '--disable-gpu',
      '--disable-quic',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
}
