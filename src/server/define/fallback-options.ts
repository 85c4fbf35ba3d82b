// The option `fallbacks`: the help for clients that lack tasks, or cannot ask their users.

/** The help of a server for clients that have no tasks, or cannot ask their users. */
export interface FallbacksOptions {
  /**
   * Lets tools with `task` outlive the calls of clients without tasks: the call ends with a result that tells the model to call
   * `continue_task`. Default: such a call waits, or is rejected if the tool needs tasks.
   */
  readonly tasks?: FallbackTasks;
  /**
   * How questions reach the users of clients that cannot ask them. `model`: the model passes the question on, and the answer back; those
   * that only the user may answer are asked on the page. `url`: all of them are asked on the page, and the model gets its link. `refuse`: the
   * call fails, and the model is told why. Default: the call is rejected with `missing_capability`.
   */
  readonly asking?: 'model' | 'url' | 'refuse';
  /** The public address of the page that asks, such as `https://example.com/ask`. It must lead to this server. */
  readonly page?: string;
  /** Corrections of the table of hosts, by the name that a client has in `clientInfo`. Default: none. */
  readonly hosts?: Readonly<Record<string, HostOverride>>;
}

/** The options of long calls. */
export interface FallbackTasks {
  /** The milliseconds after which a call ends, if its tool still runs; less for a host that ends calls earlier. Default: 45 s. */
  readonly after?: number;
}

/** The behaviour of a host. Everything that is left out is as in the table. */
export interface HostOverride {
  /** Whether the host shows questions if it declares `elicitation`. */
  readonly asks?: boolean;
  /** Whether the host has tasks if it declares them. */
  readonly tasks?: boolean;
  /** The milliseconds after which the host gives up a call. */
  readonly callMs?: number;
}

/** The table of `FallbacksOptions`. */
export const fallbacksTable = {
  tasks: { is: 'object', options: { after: { is: 'timer', default: 45_000 } } },
  asking: { oneOf: ['model', 'url', 'refuse'] },
  page: 'string',
  hosts: 'object',
} as const;

/** The table of `HostOverride`. */
export const hostTable = {
  asks: 'boolean',
  tasks: 'boolean',
  callMs: { is: 'timer', min: 1000 },
} as const;
