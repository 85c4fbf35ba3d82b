import type { JsonObject } from '../../../jsonrpc/message.js';
import { unsafeAnyAudience } from '../tokens/token-options.js';
import { nameOf, type Preset, type PresetOptions } from './preset.js';

/** The options of `cognito`. */
export interface CognitoOptions extends Omit<PresetOptions, 'clientIds'> {
  /** The region of the user pool, such as `eu-central-1`. */
  readonly region: string;
  /** The id of the user pool, such as `eu-central-1_AbCdEfGhI`. */
  readonly userPoolId: string;
  /** The app clients whose tokens are accepted. Access tokens of Cognito have no audience, so this is what is checked. */
  readonly clientIds: readonly string[];
  /** The audience, if the user pool uses resource binding. It is then checked too. Default: none. */
  readonly audience?: string | readonly string[] | undefined;
}

/** Access tokens of Amazon Cognito, which have no audience: their client is checked instead. */
export function cognitoPreset({ region, userPoolId, audience, ...options }: CognitoOptions): Preset {
  requireClients('cognito', options.clientIds);
  const host = `cognito-idp.${nameOf('cognito', 'region', region)}.amazonaws.com`;
  return {
    options: {
      ...options,
      ...(audience === undefined ? { [unsafeAnyAudience]: true } : { audience }),
      issuer: `https://${host}/${nameOf('cognito', 'userPoolId', userPoolId)}`,
      claims: { clientId: 'client_id' },
    },
    parts: { name: 'cognito', refuse },
  };
}

function refuse({ token_use: use }: Readonly<JsonObject>): string | undefined {
  return use === 'access' ? undefined : 'The token is not an access token of Cognito (token_use).';
}

/** Throws a TypeError unless clients are named. */
export function requireClients(functionName: string, clientIds: unknown): void {
  if (!Array.isArray(clientIds) || clientIds.length === 0)
    throw new TypeError(
      `${functionName}: \`clientIds\` is required. The tokens have no audience, so a token of any other client would be accepted.`,
    );
}
