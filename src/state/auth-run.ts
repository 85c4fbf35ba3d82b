import { type Authenticate, toAuth } from '../protocol/caller.js';
import type { AuthContext, AuthProvider, AuthRequest } from './auth-provider.js';

/** Makes the run of an `auth` option. A function is a provider that serves anonymous callers, too. Throws if it is neither. */
export function authRun(
  auth: AuthProvider | Authenticate<AuthRequest> | undefined,
  context: () => AuthContext,
): AuthRun | undefined {
  if (auth === undefined) return undefined;
  if (typeof auth === 'function')
    return new AuthRun(
      {
        optional: true,
        async check(request) {
          return toAuth((await auth(request)) ?? undefined);
        },
      },
      context,
      { isFunction: true },
    );
  if (isProvider(auth)) return new AuthRun(auth, context);
  throw new TypeError(
    '"auth" must be a provider, such as the functions of fullmcp/auth make, or a function that takes the request.',
  );
}

function isProvider(auth: unknown): auth is AuthProvider {
  return typeof (auth as AuthProvider | null)?.check === 'function';
}

/** A provider in use: started once, before its first check, and closed once. */
export class AuthRun {
  readonly provider: AuthProvider;
  /** Whether the provider is a function of the program, which decides alone who is anonymous. */
  readonly isFunction: boolean;
  readonly #contextOf: () => AuthContext;
  #context: AuthContext | undefined;
  #isStarted: boolean;
  #starting: Promise<void> | undefined;
  #closing: Promise<void> | undefined;

  constructor(
    provider: AuthProvider,
    context: () => AuthContext,
    { isFunction = false }: { readonly isFunction?: boolean } = {},
  ) {
    this.provider = provider;
    this.isFunction = isFunction;
    this.#contextOf = context;
    this.#isStarted = provider.start === undefined;
  }

  /** Starts the provider, unless that was done. Undefined if it is ready. After a failure, the next call tries again. */
  start(): Promise<void> | undefined {
    if (this.#isStarted) return undefined;
    this.#starting ??= this.#start();
    return this.#starting;
  }

  async #start(): Promise<void> {
    try {
      this.#context ??= this.#contextOf();
      await this.provider.start?.(this.#context);
      this.#isStarted = true;
    } finally {
      this.#starting = undefined;
    }
  }

  /** Closes the provider, after its start if that is under way. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await this.#starting?.catch(() => undefined);
    // Other servers may use the provider, so one that has not started it does not close it.
    if (this.#isStarted || this.#context !== undefined) await this.provider.close?.(this.#context);
  }
}
