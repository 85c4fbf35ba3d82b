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
  const make = ({ options, parts }: Preset): TokenProvider => createJwt(runtime, options, parts);
  return {
    auth0: (options) => make(auth0Preset(options)),
    clerk: (options) => make(clerkPreset(options)),
    cognito: (options) => make(cognitoPreset(options)),
    entra: (options) => make(entraPreset(options)),
    keycloak: (options) => make(keycloakPreset(options)),
    okta: (options) => make(oktaPreset(options)),
    workos: (options) => make(workosPreset(options)),
  };
}
