/** One thing wrong with a value, at a place in it. */
export interface Issue {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

export type Checked<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly issues: readonly Issue[] };
