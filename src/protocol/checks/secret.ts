// A short secret can be guessed from a value that it signed or sealed.
const MIN_LENGTH = 32;

/**
 * The secrets of an option: an array, or a string with a comma between secrets. The first one signs and encrypts, all of them are
 * accepted. Throws a RangeError if there is none or one is too short.
 */
export function readSecrets(secret: string | readonly string[]): readonly string[] {
  const secrets = typeof secret === 'string' ? secret.split(',').map((one) => one.trim()) : secret;
  if (secrets.length === 0)
    throw new RangeError('"secret" must have at least one secret; leave it out for a random one');
  if (secrets.length > 1 && typeof secret === 'string' && secrets.some(isTooShort))
    throw new RangeError(
      `A comma separates several secrets, and each must have at least ${MIN_LENGTH} characters. A secret with a comma in it must be in an array.`,
    );
  for (const one of secrets) checkSecret(one);
  return secrets;
}

/** Throws a RangeError if a secret is too short. */
export function checkSecret(secret: string): void {
  if (!isTooShort(secret)) return;
  throw new RangeError(
    `A secret must have at least ${MIN_LENGTH} characters; \`openssl rand -hex 32\` makes a good one.`,
  );
}

function isTooShort(secret: string): boolean {
  return secret.length < MIN_LENGTH;
}
