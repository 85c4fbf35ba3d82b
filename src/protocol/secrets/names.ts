// The names of secrets: the one list for logs, audit, tapes, the command and the inspector.

/** A name that ends with one of these, or its plural, is the name of a secret: `password`, `accessTokens`, `X-Api-Key`. */
export const SECRET_ENDS: readonly string[] = [
  'password',
  'passwd',
  'passphrase',
  'passcode',
  'pwd',
  'secret',
  'token',
  'jwt',
  'bearer',
  'authorization',
  'cookie',
  'credential',
  'apikey',
  'privatekey',
  'secretkey',
  'accesskey',
  'signingkey',
  'encryptionkey',
  'connectionstring',
];

/** Names of secrets that many ordinary words end with (`spin`, `author`), so that only the whole name counts. */
export const SECRET_NAMES: readonly string[] = [
  'auth',
  'pin',
  'otp',
  'totp',
  'cvv',
  'cvc',
  'ssn',
  'dsn',
  'dpop',
  'sessionid',
  'mcpsessionid',
  'clientassertion',
  'codeverifier',
];
