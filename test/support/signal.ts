/** A promise and the function that fulfils it. */
export function signal<T = void>(): { readonly promise: Promise<T>; readonly give: (value: T) => void } {
  let give!: (value: T) => void;
  const promise = new Promise<T>((resolve) => {
    give = resolve;
  });
  return { promise, give };
}
