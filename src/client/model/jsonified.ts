// The type that a value has after it was sent as JSON.

/**
 * The value that a client receives for a value that a server returns: `Date` and everything else with `toJSON` as its result,
 * class instances as their data, fields that may be undefined as optional, functions and symbols not at all. A value that
 * cannot be sent becomes a sentence that says so.
 */
export type Jsonified<T> = unknown extends T
  ? T
  : T extends string | number | boolean | null
    ? T
    : T extends { toJSON(key?: never): infer J }
      ? J extends { toJSON(key?: never): unknown }
        ? unknown
        : Jsonified<J>
      : T extends Unsendable
        ? 'This value cannot be sent as JSON: the call fails.'
        : T extends Dropped
          ? never
          : T extends readonly unknown[]
            ? { [Index in keyof T]: JsonItem<T[Index]> }
            : [Missing<T>] extends [never]
              ? { [Key in keyof T as SentKey<Key, T[Key]>]: Jsonified<T[Key]> }
              : Flat<
                  { [Key in keyof T as Exclude<SentKey<Key, T[Key]>, Missing<T>>]: Jsonified<T[Key]> } & {
                    [Key in Missing<T> as SentKey<Key, T[Key]>]?: Jsonified<T[Key]>;
                  }
                >;

/** Values that JSON leaves out. */
type Dropped = undefined | symbol | ((...args: never) => unknown);

/** Values that cannot be sent as JSON. */
type Unsendable =
  | bigint
  | ReadonlyMap<unknown, unknown>
  | ReadonlySet<unknown>
  | WeakMap<object, unknown>
  | Promise<unknown>
  | Error
  | ArrayBuffer
  | ArrayBufferView;

/** In an array, `undefined` and functions become `null`. */
type JsonItem<T> = unknown extends T ? T : Jsonified<T> | (Extract<T, Dropped> extends never ? never : null);

/** The key, if its field is in the JSON at all. */
type SentKey<Key, Value> = Key extends symbol ? never : [Value] extends [Dropped] ? never : Key;

/** The keys that are required and whose value may be undefined: JSON leaves such a field out. */
type Missing<T> = {
  [Key in keyof T]-?: undefined extends T[Key]
    ? unknown extends T[Key]
      ? never
      : Partial<Record<Key, T[Key]>> extends Pick<T, Key>
        ? never
        : Key
    : never;
}[keyof T];

/** The same type, shown as one object. */
type Flat<T> = { [Key in keyof T]: T[Key] };
