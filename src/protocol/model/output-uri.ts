// The URIs of large results, which `outputBudget` keeps and answers itself.

const OWN_URI = /^output:\/\/([0-9a-f]{32})\/(\d{1,6})(?:\?offset=(\d{1,9}))?$/;

/** The parts of a URI: a result, and the position in it from which to read. */
export interface OutputAddress {
  readonly id: string;
  readonly place: string;
  readonly offset: number;
}

/** The parts of a URI that `outputBudget` has made; undefined for other URIs. */
export function readOutputUri(uri: unknown): OutputAddress | undefined {
  const [, id, place, offset = '0'] = (typeof uri === 'string' && uri.length < 80 && OWN_URI.exec(uri)) || [];
  return id === undefined || place === undefined ? undefined : { id, place, offset: Number(offset) };
}
