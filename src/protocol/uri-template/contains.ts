/** Whether a URI is `whole` or lies below it: an update may name a sub-resource of the one that was subscribed to. */
export function isWithin(uri: unknown, whole: string): boolean {
  return (
    uri === whole || (typeof uri === 'string' && uri.startsWith(whole.endsWith('/') ? whole : `${whole}/`))
  );
}
