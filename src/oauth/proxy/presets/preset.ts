import { type AnyTable, checkOptions, type OptionTable } from '../../../protocol/checks/options.js';
import { isLoopbackUrl } from '../../fetch/check-url.js';
import { type UpstreamOptions, upstreamTable } from '../upstream/open-id.js';

// Checks of the options that the presets share.

/** Checks the options of a preset. `own` are those that only this preset has. */
export function checkPreset<Options extends UpstreamOptions>(
  preset: string,
  options: Options,
  own: OptionTable<Omit<Options, keyof UpstreamOptions>>,
): void {
  checkOptions(preset, options, { ...upstreamTable, ...(own as AnyTable) });
  // Most often, an environment variable is not set.
  for (const name of ['clientId', 'clientSecret'] as const) {
    const value: unknown = options[name];
    if (name === 'clientSecret' && value === undefined && Object.hasOwn(options, 'authentication')) continue;
    if (typeof value !== 'string' || value === '')
      throw new TypeError(
        `${preset}: \`${name}\` must be a string that is not empty. It comes from your registration at the provider.`,
      );
  }
}

/** Checks that an option is the URL of a site, and removes the slash at its end. On an internal network, it may use http. */
export function siteOf(
  preset: string,
  option: string,
  value: string,
  { isInternal = false }: { readonly isInternal?: boolean } = {},
): string {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  const isSafe =
    url?.protocol === 'https:' || (url?.protocol === 'http:' && (isInternal || isLoopbackUrl(url)));
  if (url === undefined || !isSafe || /[?#@]/.test(value))
    throw new TypeError(`${preset}: \`${option}\` must be a URL with https, such as "https://example.com".`);
  return url.href.replace(/\/$/, '');
}
