import type { ContentBlock } from '../../protocol/model/content.js';
import type { Jsonified } from './jsonified.js';
import type { CallOptions } from './options.js';

// Types of a server's tools for `connect<typeof server>`, without generated code. They read the phantom property of the server's
// type, and the type of a tool only when that tool is named.

/**
 * The tools of a server as functions, by name. With the type of the server, names, arguments and results are checked; without
 * it, any name is allowed.
 */
export type TypedTools<S> = S extends { readonly '~tools'?: infer T }
  ? { readonly [Name in keyof T]: TypedTool<T[Name]> }
  : { readonly [name: string]: (args?: object, options?: CallOptions) => Promise<unknown> };

/** One tool as a function. */
type TypedTool<T> = T extends { readonly '~signature'?: infer Signature }
  ? Exclude<Signature, undefined> extends (args: infer Sent) => infer Returned
    ? ToolFunction<Sent, Unwrapped<Awaited<Returned>>>
    : (args?: object, options?: CallOptions) => Promise<unknown>
  : never;

/** A function whose arguments may be left out when the tool requires none. */
type ToolFunction<Sent, Value> =
  Record<never, never> extends Sent
    ? (args?: Sent, options?: CallOptions) => Promise<Value>
    : (args: Sent, options?: CallOptions) => Promise<Value>;

/**
 * The value that `unwrap` returns for a handler's return value: values as JSON carries them, and the text when there is only
 * content.
 */
type Unwrapped<R> = unknown extends R
  ? unknown
  : [R] extends [string]
    ? string
    : R extends ContentBlock | readonly ContentBlock[] | { readonly content: readonly ContentBlock[] }
      ? unknown
      : R extends undefined
        ? string
        : Jsonified<R>;
