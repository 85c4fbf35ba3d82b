// Types that check whether the definitions of a server fit its `lifespan` and `user`. A sentence replaces the type of each
// definition that does not fit, so that the compiler reports the mistake there, in words. All definitions are checked together
// first, which is cheap; they are checked one by one only if something does not fit.

import type { NotInferred } from './definition.js';
import type { Prompt } from './prompt.js';
import type { ResourceContext } from './resource.js';
import type { Tool } from './tool.js';

/** The additional constraint on the inferred type of `tools`. */
export type FittingTools<T, State, User, Inferred> =
  T extends Readonly<Record<string, Tool<unknown, IfInferred<State, Inferred>, IfInferred<User, Inferred>>>>
    ? unknown
    : {
        readonly [Name in keyof T]: T[Name] extends Tool<unknown, never, never>
          ? T[Name] extends Tool<unknown, IfInferred<State, Inferred>, never>
            ? T[Name] extends Tool<unknown, never, IfInferred<User, Inferred>>
              ? unknown
              : UserMisfit<'tool', User>
            : StateMisfit<'tool', State>
          : NotOfKind<'tool'>;
      };

/** The additional constraint on the inferred type of `prompts`. */
export type FittingPrompts<P, State, User, Inferred> =
  P extends Readonly<Record<string, Prompt<never, IfInferred<State, Inferred>, IfInferred<User, Inferred>>>>
    ? unknown
    : {
        readonly [Name in keyof P]: P[Name] extends Prompt<never, never, never>
          ? P[Name] extends Prompt<never, IfInferred<State, Inferred>, never>
            ? P[Name] extends Prompt<never, never, IfInferred<User, Inferred>>
              ? unknown
              : UserMisfit<'prompt', User>
            : StateMisfit<'prompt', State>
          : NotOfKind<'prompt'>;
      };

/** The additional constraint on `resources`. `R` has the state and the user that each of them needs. */
export type FittingResources<R, State, User, Inferred> =
  R extends Readonly<Record<string, Needs<IfInferred<State, Inferred>, IfInferred<User, Inferred>>>>
    ? unknown
    : {
        readonly [Uri in keyof R]: R[Uri] extends Needs<never, never>
          ? R[Uri] extends Needs<IfInferred<State, Inferred>, never>
            ? R[Uri] extends Needs<never, IfInferred<User, Inferred>>
              ? unknown
              : UserMisfit<'resource', User>
            : StateMisfit<'resource', State>
          : unknown;
      };

type Needs<State, User> = (state: State, user: User) => void;

/** A resource in a server's options: `Values` comes from its key, and `NeededTypes` has the state and the user that it needs. */
export interface ResourceSlot<State, User, Values, NeededTypes, Inferred> {
  readonly kind: 'resource';
  readonly options: object;
  /** The compiler infers nothing from a context of `never`, but does from a context whose state is `never`. */
  readonly read: (
    values: Values,
    ctx: Inferred extends true ? ResourceContext<State, User> : never,
  ) => unknown;
  readonly '~needs'?: NeededTypes;
}

/** Accepts any state and user until those of the server are inferred. */
type IfInferred<T, Inferred> = Inferred extends true ? T : never;

type StateMisfit<Kind extends string, State> = [State] extends [undefined]
  ? `This ${Kind} needs ctx.state, but the server has no lifespan. Add lifespan: async function* () { yield … } to the options of createServer or defineWith.`
  : `This ${Kind} needs a ctx.state that the lifespan of this server does not yield. Yield what the ${Kind} needs, or define the ${Kind} with the functions that defineWith returns for this server.`;

type UserMisfit<Kind extends string, User> = [User] extends [undefined]
  ? `This ${Kind} needs ctx.user, but the server has no user option. Add user: (facts) => … to the options of createServer or defineWith.`
  : `This ${Kind} needs a ctx.user that the user option of this server does not return. Return what the ${Kind} needs, or define the ${Kind} with the functions that defineWith returns for this server.`;

type NotOfKind<Kind extends string> = `This is not a ${Kind}. Make one with ${Kind}({ … }).`;

/**
 * Infers `Sources`: which of the keys `lifespan` and `user` the options of a server have. The compiler checks the tools before
 * it checks a `user` that has parameters; until then, only the key shows that the option is not missing.
 */
export type Present<Sources> = { readonly [Key in keyof Sources & keyof AllSources]?: unknown };

/** The sources of a server that has both. */
export type AllSources = Record<'lifespan' | 'user', unknown>;

/**
 * Requires a `lifespan` or `user` that may be missing, such as one in a conditional spread, if a definition needs its value.
 * `Sources` does not show that the option may be missing.
 */
export type Certain<T, R, P, Sources> = ('lifespan' extends keyof Sources
  ? NeededBy<[T, R, P], Accepting<undefined, never>, NeedsState>
  : unknown) &
  ('user' extends keyof Sources ? NeededBy<[T, R, P], Accepting<never, undefined>, NeedsUser> : unknown);

type NeededBy<Definitions, Accepted, Needed> =
  Definitions extends Accepting<never, never> ? (Definitions extends Accepted ? unknown : Needed) : unknown;

type Accepting<State, User> = [
  Readonly<Record<string, Tool<unknown, State, User>>>,
  Readonly<Record<string, Needs<State, User>>>,
  Readonly<Record<string, Prompt<never, State, User>>>,
];

/** A definition of this server reads `ctx.state`, so `lifespan` must not be optional. */
export interface NeedsState {
  /** Opens the state that a definition of this server reads. */
  readonly lifespan: unknown;
}

/** A definition of this server reads `ctx.user`, so `user` must not be optional. */
export interface NeedsUser {
  /** Makes the user that a definition of this server reads. */
  readonly user: unknown;
}

/** The type of `ctx.state` or `ctx.user`: the type that its option gives, or undefined if the option is missing. */
export type SourceType<Option, T, Sources> = Has<Option, Sources> extends true ? NotInferred<T> : undefined;

/** `never` stands for sources that are not inferred yet. */
type Has<Option, Sources> = [Sources] extends [never] ? true : Option extends keyof Sources ? true : false;

/** Whether state and user are inferred. If a misfit were reported sooner, the compiler would report others that do not exist. */
export type AllInferred<State, User> = [State] extends [never]
  ? false
  : [User] extends [never]
    ? false
    : true;

/** The type of `ctx.state` or `ctx.user` of a server without the option that gives it. */
export type OrUndefined<T> = [T] extends [never] ? undefined : T;
