/** A string without percent-encoding; as it is, if a percent sign in it encodes nothing. */
export function tryDecode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
