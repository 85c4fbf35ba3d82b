import { mintToken } from 'fullmcp/auth';

/** Makes a token for `sharedSecretJwt`. */
export async function mint(secret: string, audience: string): Promise<string> {
  // #region mint
  const token = await mintToken(
    { sub: 'ada', scope: 'notes:read notes:write' },
    { secret, issuer: 'my-company', audience, expiresIn: '15m' },
  );
  // #endregion
  return token;
}
