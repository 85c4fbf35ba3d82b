// Secrets in text that are known by their form: JWTs, private keys, and the keys of well-known services.

import { type HideInText, hideInText, REDACTED } from './text.js';

const SHAPES =
  /(?<![\w-])(?:eyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*){1,3}|sk-[\w-]{16,}|gh[pousr]_\w{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|xox[abeprs]-[\w-]{10,}|AKIA[A-Z0-9]{16}|AIza[\w-]{30,}|npm_\w{30,})|-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[^-]{0,9000}/g;

/**
 * Makes a function that hides every secret in a string that can be recognized: by its name, as `hideInText` does, and by its form. The log
 * of a server has only the former, so that a server loads little.
 */
export function hideRecognized(own: readonly string[] = [], mask: string = REDACTED): HideInText {
  const hideNamed = hideInText(own, mask);
  return (text) => hideNamed(text.replace(SHAPES, mask));
}
