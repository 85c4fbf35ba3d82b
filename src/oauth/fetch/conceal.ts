const MIN_LENGTH = 4;

/**
 * A peer's text without these secrets, in whatever form it repeats them: as they are, as part of a URL or a form, or in JSON. To
 * be called before the text is shortened, because a part of a secret would not be found.
 */
export function conceal(text: string, secrets: readonly (string | undefined)[]): string {
  const forms = secrets.flatMap((secret) => (secret === undefined ? [] : formsOf(secret)));
  // The longest first: one form may be a part of another.
  const ordered = [...new Set(forms)].sort((one, other) => other.length - one.length);
  return ordered.reduce((clean, form) => clean.replaceAll(form, '…'), text);
}

function formsOf(secret: string): readonly string[] {
  // Too short to be a secret, and in every other word.
  if (secret.length < MIN_LENGTH) return [];
  const inForm = new URLSearchParams([['', secret]]).toString().slice(1);
  return [
    secret,
    encodeURIComponent(secret.replace(/\p{Surrogate}/gu, '\ufffd')),
    inForm,
    JSON.stringify(secret).slice(1, -1),
  ];
}
