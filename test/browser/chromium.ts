import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import process from 'node:process';
import { type Browser, chromium } from 'playwright-core';
import { describe } from 'vitest';

// The shell is the same engine without windows: it takes half of the CPU time.
const names = [
  'chromium-headless-shell',
  'chromium',
  'chromium-browser',
  'google-chrome',
  'google-chrome-stable',
];
const missing =
  'The browser tests need Chromium. Install it (on Debian: apt-get install chromium-headless-shell), or set CHROMIUM_PATH to its path.';

/** The browser on this machine, or undefined. Where browser tests are required, its absence is a failure. */
function findChromium(): string | undefined {
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

const executablePath = findChromium();

/** A `describe` that is skipped where there is no Chromium. */
export const describeInChromium = describe.skipIf(executablePath === undefined);

/** The name of a website that resolves to this machine, in this browser only. */
export const WEBSITE = 'app.example.com';

export function launch(): Promise<Browser> {
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
