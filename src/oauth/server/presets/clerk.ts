import { unsafeAnyAudience } from '../tokens/token-options.js';
import { requireClients } from './cognito.js';
import { hostOf, type Preset, type PresetOptions } from './preset.js';

/** The options of `clerk`. */
export interface ClerkOptions extends Omit<PresetOptions, 'clientIds'> {
  /** The domain of the instance, such as `example.clerk.accounts.dev`, or its own domain. */
  readonly domain: string;
  /** The OAuth applications whose tokens are accepted. Tokens of Clerk have no audience, so this is what is checked. */
  readonly clientIds: readonly string[];
}

/** OAuth access tokens of Clerk that are JWTs. Session tokens, which the same keys sign, name no OAuth application. */
export function clerkPreset({ domain, ...options }: ClerkOptions): Preset {
  requireClients('clerk', options.clientIds);
  return {
    options: {
      ...options,
      [unsafeAnyAudience]: true,
      issuer: `https://${hostOf('clerk', 'domain', domain)}`,
    },
    parts: { name: 'clerk' },
  };
}
