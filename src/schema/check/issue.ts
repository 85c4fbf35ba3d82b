/** One problem with a value, and the path to it inside the value. */
export interface Issue {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** The validated value, or the reasons why it is not valid. */
export type ValidationResult<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly issues: readonly Issue[] };
