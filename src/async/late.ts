/** A part that is made after the parts that use it. */
export interface Late<T> {
  /** The part. Throws if it is not made yet. */
  readonly get: () => T;
  /** Sets the part, once. */
  readonly provide: (part: T) => void;
}

/** Makes the place of a part that is made later. `name` is for the errors, which are mistakes in the order of the parts. */
export function late<T>(name: string): Late<T> {
  let made: { readonly part: T } | undefined;
  return {
    get() {
      if (made === undefined) throw new Error(`${name} was used before it was made`);
      return made.part;
    },
    provide(part) {
      if (made !== undefined) throw new Error(`${name} was made twice`);
      made = { part };
    },
  };
}
