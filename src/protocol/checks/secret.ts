// A short secret can be guessed from a value that it signed or sealed.
const MIN_LENGTH = 32;

/** Throws a RangeError if a secret is too short. */
export function checkSecret(secret: string): void {
  if (secret.length >= MIN_LENGTH) return;
  throw new RangeError(
    `A secret must have at least ${MIN_LENGTH} characters; \`openssl rand -hex 32\` makes a good one.`,
  );
}
