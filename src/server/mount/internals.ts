import type { Middleware } from '../../protocol/call.js';
import type { MiddlewareLifetime } from '../../state/hosted-middleware.js';
import type { CompiledMethod } from '../catalog/compile.js';
import type { Registration, Registry } from '../catalog/registry.js';
import type { CompiledTool } from '../catalog/tools.js';
import type { HandlerHome } from '../context/handler-run.js';
import type { MapError } from '../results/map-error.js';
import type { Changed } from '../state/changes.js';
import type { ChosenState } from '../state/chosen-state.js';
import type { EmitAny } from '../state/emitting.js';
import type { Logger } from '../state/log.js';
import type { MountView } from './view.js';

/** The parts of a server that a server it is mounted in uses. */
export interface ServerInternals {
  readonly name: string;
  readonly registry: Registry;
  /** Runs the handlers of the server. */
  readonly home: HandlerHome;
  /** The middleware of the server, the first outermost. */
  readonly use: readonly Middleware[];
  readonly useOf: (tool: CompiledTool) => readonly Middleware[];
  readonly methods: ReadonlyMap<string, CompiledMethod>;
  readonly shared: ChosenState;
  readonly changed: Changed;
  /** Emits an event of the server. */
  readonly emit: EmitAny;
  readonly log: Logger;
  readonly mapError: MapError;
  /** The value that the lifespan yields. */
  readonly state: () => Promise<unknown>;
  /** Whether the server identifies its own callers. */
  readonly hasAuth: boolean;
  /** The checks that its readiness depends on. */
  readonly checks: () => readonly (() => Promise<void>)[];
  /** Compiles a definition. Throws a `DefinitionError`. The function adds it, and throws if the name is taken. */
  readonly prepare: (
    kind: 'tool' | 'resource' | 'prompt',
    name: string,
    definition: unknown,
  ) => () => Registration;
  /** Runs parts when the server closes. */
  readonly attach: (lifetime: MiddlewareLifetime) => void;
  /** Whether another server is mounted in this one, at any depth. */
  readonly contains: (registry: Registry) => boolean;
  /** Counts one more server that this one is mounted in. */
  readonly hold: () => void;
  /** Counts one of these servers off. Returns the number of those that are left, with this one if it is served itself. */
  readonly letGo: () => number;
  /** The changed view of the server that `transform` made; undefined for the server itself. */
  readonly view?: MountView;
  /** Starts the lifespan and the middleware, unless they run. */
  readonly start: () => Promise<void>;
  /** Ends the lifespan and the middleware. */
  readonly close: () => Promise<void>;
}

const known = new WeakMap<object, ServerInternals>();

/** Remembers the internals of a server. */
export function keepInternals(server: object, internals: ServerInternals): void {
  known.set(server, internals);
}

/** The internals of a server; undefined if the value is not a server. */
export function internalsOf(server: unknown): ServerInternals | undefined {
  return typeof server === 'object' && server !== null ? known.get(server) : undefined;
}
