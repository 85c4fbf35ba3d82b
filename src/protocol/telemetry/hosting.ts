import type { Call, Middleware } from '../call.js';
import type { McpError } from '../errors.js';
import type { Link } from '../link.js';
import type { InputRequest } from '../model/input.js';

// The seam between a client or a server and middleware that sees more than calls.

/** Work that belongs to no call of a client: a tool that another tool calls, a task, or an answer to a question. */
export type InnerWork =
  | {
      /** `tool`: a tool that another tool calls. `task`: the tool of a task. */
      readonly kind: 'tool' | 'task';
      /** The name of the tool. */
      readonly name: string;
      /** The call that the tool runs for. A task has the `_meta` of the call that created it, as far as that is about traces. */
      readonly call: Call;
    }
  | {
      /** The program answers a question of the server. */
      readonly kind: 'question';
      /** The question. */
      readonly request: InputRequest;
    };

/** Runs inner work. */
export type Around = <T>(work: InnerWork, run: () => Promise<T>) => Promise<T>;

/** Middleware that sees more than calls. */
export interface WideMiddleware extends Middleware {
  /** Wraps inner work. */
  readonly around?: Around | undefined;
  /** Called when a client has connected. The returned function is called when that connection ends, with the reason if it was lost. */
  readonly onSession?: ((link: Link) => (lost?: McpError) => void) | undefined;
}

/** The parts of a client that its middleware may use. */
export interface ClientHost {
  /** The server's address for people: a URL without secrets, or a command. */
  readonly target: string;
  /** The connection; undefined while there is none. */
  readonly link: () => Link | undefined;
  /** Drops the cached results of a method. */
  readonly forget: (method: string) => void;
}

/** Middleware that is made for each client it is used in. */
export interface ClientMiddleware extends Middleware {
  /** Makes the middleware for one client. */
  readonly forClient: (host: ClientHost) => WideMiddleware;
}

/** The middleware of a client, with the parts of the client that some of it needs. */
export function hostInClient(use: readonly Middleware[], host: ClientHost): readonly WideMiddleware[] {
  return use.map((one) => ('forClient' in one ? (one as ClientMiddleware).forClient(host) : one));
}

/** The functions around inner work as one, the first outermost; undefined if there are none. */
export function aroundOf(use: readonly WideMiddleware[]): Around | undefined {
  return use.reduceRight<Around | undefined>((inner, { around: outer }) => {
    if (outer === undefined || inner === undefined) return outer ?? inner;
    return (work, run) => outer(work, () => inner(work, run));
  }, undefined);
}
