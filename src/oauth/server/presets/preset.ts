import type { JwtOptions, JwtParts } from '../tokens/jwt.js';
import type { TokenOptions, unsafeAnyAudience } from '../tokens/token-options.js';

/** The options that the functions for single providers take, besides their own. */
export interface PresetOptions extends Omit<TokenOptions, 'audience' | 'claims' | typeof unsafeAnyAudience> {}

/** The parts that a provider's name stands for. */
export interface Preset {
  readonly options: JwtOptions;
  readonly parts: JwtParts;
}

/** Checks that an option is the name of a host, which people copy with a scheme or a path. */
export function hostOf(functionName: string, option: string, value: unknown): string {
  const url =
    typeof value === 'string' && URL.canParse(`https://${value}`) ? new URL(`https://${value}`) : undefined;
  if (url === undefined || url.host !== value)
    throw new TypeError(
      `${functionName}: \`${option}\` must be the name of a host, such as "tenant.example.com", without a scheme and without a path.`,
    );
  return url.host;
}

/** Checks that an option is a name that can stand in a path. */
export function nameOf(functionName: string, option: string, value: unknown): string {
  if (typeof value !== 'string' || !/^[A-Za-z0-9._~ -]{1,200}$/.test(value) || value.startsWith('.'))
    throw new TypeError(`${functionName}: \`${option}\` must be a name, without slashes.`);
  return encodeURIComponent(value);
}
