// The types of changed tools, for typed clients.

import type { Mountable } from '../../define/options.js';
import type { Tool } from '../../define/tool.js';
import type { ArgumentChange, Changes, ToolChange } from './changes.js';

/** The tools of a server, or of an object of definitions. */
export type ToolsIn<Source> = Source extends { readonly '~tools'?: infer T }
  ? Known<T>
  : Source extends { readonly tools: infer T }
    ? Known<T>
    : Record<never, never>;

/** The types of events of a server, or of an object of definitions. */
type EventsIn<Source> = Source extends { readonly '~events'?: infer E }
  ? Known<Exclude<E, undefined>>
  : Source extends { readonly events: infer E }
    ? Known<E>
    : Record<never, never>;

type Known<T> = unknown extends T ? Record<string, Tool> : T;

/** The changes that fit a server or an object of definitions. */
export type ChangesOf<Source> = Changes<{
  readonly [Name in keyof ToolsIn<Source>]?: ToolChange<ArgumentsOf<ToolsIn<Source>[Name]>>;
}>;

type ArgumentsOf<T> = T extends { readonly '~signature'?: infer Signature }
  ? Signature extends (args: infer Args) => unknown
    ? { readonly [Name in keyof Args]?: ArgumentChange }
    : Readonly<Record<string, ArgumentChange>>
  : Readonly<Record<string, ArgumentChange>>;

/** Rejects changes of tools that do not exist. */
export type OnlyKnown<C, Source> = C extends { readonly tools: infer T }
  ? { readonly tools: { readonly [Name in keyof T]: Name extends keyof ToolsIn<Source> ? unknown : never } }
  : unknown;

/** A server or an object of definitions with changes. */
export type Transformed<Source, C> = Source extends Mountable
  ? Mountable & {
      /** For types only: the tools that a typed client reads. */
      readonly '~tools'?: TransformedTools<ToolsIn<Source>, ChangesIn<C, 'tools'>>;
      /** For types only: the types of events. */
      readonly '~events'?: TransformedTools<EventsIn<Source>, ChangesIn<C, 'events'>>;
    }
  : TransformedGroup<TransformedGroup<Source, C, 'tools'>, C, 'events'>;

type TransformedGroup<Source, C, Group extends 'tools' | 'events'> = Source extends {
  readonly [Key in Group]: infer T;
}
  ? Omit<Source, Group> & {
      /** The changed definitions. */
      readonly [Key in Group]: TransformedTools<T, ChangesIn<C, Group>>;
    }
  : Source;

type ChangesIn<C, Group extends string> = C extends { readonly [Key in Group]: infer T }
  ? T
  : Record<never, never>;

/** Tools, or types of events, with changes: hidden ones are missing, renamed ones have their new names. */
export type TransformedTools<T, C> = {
  readonly [Name in keyof T as NewName<Name, ChangeOf<C, Name>>]: TransformedTool<T[Name], ChangeOf<C, Name>>;
};

type ChangeOf<C, Name> = Name extends keyof C ? C[Name] : undefined;

type NewName<Name, Change> = Change extends { readonly hidden: true }
  ? never
  : Change extends { readonly name: infer New extends string }
    ? New
    : Name;

type TransformedTool<T, Change> = Change extends { readonly args: infer Args }
  ? T extends Tool<infer Signature, infer State, infer User>
    ? Tool<NewSignature<Signature, Args>, State, User>
    : T
  : T;

type NewSignature<Signature, Changes> = Signature extends (args: infer Args) => infer Value
  ? (args: NewArguments<Args, Changes>) => Value
  : Signature;

type NewArguments<Args, Changes> = Flat<
  {
    [Name in keyof Args as HasDefault<ChangeOf<Changes, Name>> extends true
      ? never
      : NewArgument<Name, ChangeOf<Changes, Name>>]: Args[Name];
  } & {
    [Name in keyof Args as HasDefault<ChangeOf<Changes, Name>> extends true
      ? NewArgument<Name, ChangeOf<Changes, Name>>
      : never]?: Args[Name];
  }
>;

type NewArgument<Name, Change> = Change extends { readonly value: unknown } ? never : NewName<Name, Change>;

type HasDefault<Change> = Change extends { readonly default: unknown } ? true : false;

type Flat<T> = { [Key in keyof T]: T[Key] };
