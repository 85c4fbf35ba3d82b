import type { VerifierRuntime } from '../keys/runtime.js';
import { createJwt } from '../tokens/jwt.js';
import type { TokenProvider } from '../tokens/token-provider.js';
import { type Auth0Options, auth0Preset } from './auth0.js';
import { type ClerkOptions, clerkPreset } from './clerk.js';
import { type CognitoOptions, cognitoPreset } from './cognito.js';
import { type EntraOptions, entraPreset } from './entra.js';
import { type KeycloakOptions, keycloakPreset } from './keycloak.js';
import { type OktaOptions, oktaPreset } from './okta.js';
import type { Preset } from './preset.js';
import { type WorkosOptions, workosPreset } from './workos.js';

/** The providers whose tokens a server can check by itself. */
export interface ProviderPresets {
  auth0(options: Auth0Options): TokenProvider;
  clerk(options: ClerkOptions): TokenProvider;
  cognito(options: CognitoOptions): TokenProvider;
  entra(options: EntraOptions): TokenProvider;
  keycloak(options: KeycloakOptions): TokenProvider;
  okta(options: OktaOptions): TokenProvider;
  workos(options: WorkosOptions): TokenProvider;
}

/** Makes the presets for a runtime. */
export function makePresets(runtime: VerifierRuntime): ProviderPresets {
  const make = <Options>(name: string, preset: (options: Options) => Preset) =>
    function provider(given: Options): TokenProvider {
      if (typeof given !== 'object' || given === null)
        throw new TypeError(`${name}: the options must be an object, not ${String(given)}.`);
      const { options, parts } = preset(given);
      return createJwt(runtime, options, parts);
    };
  return {
    auth0: make('auth0', auth0Preset),
    clerk: make('clerk', clerkPreset),
    cognito: make('cognito', cognitoPreset),
    entra: make('entra', entraPreset),
    keycloak: make('keycloak', keycloakPreset),
    okta: make('okta', oktaPreset),
    workos: make('workos', workosPreset),
  };
}
