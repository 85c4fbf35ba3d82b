// The routes of an app, however its framework writes them.

/** A route of an app. */
export interface AppRoute {
  /** The HTTP method, in lower case. */
  readonly method: string;
  /** The path, as OpenAPI writes it. */
  readonly path: string;
  /** The parts that the route tells; undefined if it tells none. */
  readonly description: OperationParts | undefined;
}

/** The parts of an operation that a route tells. Schemas are of a Standard Schema library, or JSON Schemas. */
export interface OperationParts {
  readonly operationId?: unknown;
  readonly summary?: unknown;
  readonly description?: unknown;
  readonly tags?: unknown;
  readonly deprecated?: unknown;
  readonly params?: unknown;
  readonly query?: unknown;
  readonly headers?: unknown;
  readonly body?: unknown;
  /** The media types of the body. Default: JSON. */
  readonly consumes?: unknown;
  /** The schemas of replies, by status. */
  readonly responses?: Readonly<Record<string, unknown>>;
}

/** The routes that were found, and what else there is to say about the app. */
export interface FoundRoutes {
  readonly routes: readonly AppRoute[];
  /** The routes that cannot become operations, each with the reason. */
  readonly skipped: readonly string[];
  /** The schemas that routes refer to by their ids. */
  readonly shared?: Readonly<Record<string, unknown>>;
}

/** The methods of routes that become operations. The others have no use for a model, or belong to HTTP itself. */
export const methods: readonly string[] = ['get', 'post', 'put', 'patch', 'delete'];
