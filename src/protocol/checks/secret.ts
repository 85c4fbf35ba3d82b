// A short secret can be guessed from a value that it signed or sealed.
const MIN_LENGTH = 32;

/**
 * The secrets of an option. The first one signs and encrypts, all of them are accepted. Throws a TypeError if there is none or one
 * is too short.
 */
export function readSecrets(secret: string | readonly string[]): readonly string[] {
  const secrets = typeof secret === 'string' ? [secret] : secret;
  if (secrets.length === 0)
    throw new TypeError('"secret" must have at least one secret; leave it out for a random one');
  for (const one of secrets) checkSecret(one);
  return secrets;
}

/** The secrets of the environment variable `MCP_SECRET`, which may be several, with commas between them. */
export function splitSecrets(value: string): readonly string[] {
  return value.split(',').map((secret) => secret.trim());
}

/** Throws a TypeError if a secret is too short. */
export function checkSecret(secret: string): void {
  if (secret.length >= MIN_LENGTH) return;
  throw new TypeError(
    `A secret must have at least ${MIN_LENGTH} characters; \`openssl rand -hex 32\` makes a good one.`,
  );
}
