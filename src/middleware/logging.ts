import type { Call, Middleware, Outcome } from '../protocol/call.js';
import { type OptionTable, readOptions } from '../protocol/checks/options.js';
import { UNREADABLE } from '../protocol/telemetry/log-line.js';
import { OperatorLog } from '../protocol/telemetry/operator-log.js';
import type { MiddlewareHost } from '../state/hosted-middleware.js';
import { endOf, failureOf, stopwatch, targetOf, tell } from './facts/call-facts.js';
import { type RedactOptions, redactor } from './facts/redact.js';

/** The options of `logging`. */
export interface LoggingOptions {
  /**
   * Called with each entry; `JSON.stringify(entry)` is one line. Its errors are ignored. Default: a line of JSON to stderr, if its
   * level is logged (`MCP_LOG_LEVEL`).
   */
  readonly log?: ((entry: CallLog) => void) | undefined;
  /** Whether entries have the parameters and results of calls, redacted. Default: false. */
  readonly payloads?: boolean | undefined;
  /** The characters of each payload that are logged, about. Default: 2,000. */
  readonly maxPayloadChars?: number | undefined;
  /**
   * Secrets besides those with well-known names, such as `authorization`, `password`, `apiKey`, `token`, `secret` and `cookie`. A name
   * (`'iban'`) stands for every field with that name, at any depth; a path (`'arguments.card.number'`) stands for one place.
   */
  readonly redact?: RedactOptions['redact'];
  /** Whether a call is logged. Default: all are. */
  readonly when?: ((call: Call) => boolean) | undefined;
}

/** One entry of the log: a call that has ended. All strings in it are short and redacted. */
export interface CallLog {
  /** The time of the end, as an ISO 8601 string. */
  readonly time: string;
  /** `error` if the server failed, `warning` if the call was refused or a tool failed, otherwise `info`. */
  readonly level: 'info' | 'warning' | 'error';
  /** The method of the call. */
  readonly method: string;
  /** The tool, the prompt or the URI of the resource. */
  readonly target?: string;
  /** `ok`, `asks` if the client is asked for input, `tool_error` for a result with `isError`, or the code of the error. */
  readonly end: string;
  /** The milliseconds that the call took, without those in which the user was asked. */
  readonly ms: number;
  /** The id of the request. */
  readonly id: string | number;
  /** The authenticated caller: its subject. */
  readonly caller?: string;
  /** The issuer of the caller's credentials, if it has one. Two issuers may use one name for two people. */
  readonly issuer?: string;
  /** The IP address at the other end of the connection. */
  readonly address?: string;
  /** The name and version that the client claims. */
  readonly client?: string;
  /** The protocol revision. */
  readonly revision: string;
  /** The message of the error. */
  readonly error?: string;
  /** The parameters without `_meta`, if payloads are logged. */
  readonly params?: unknown;
  /** The result without `_meta`, if payloads are logged. */
  readonly result?: unknown;
}

const optionTable = {
  log: 'function',
  payloads: { is: 'boolean', default: false },
  maxPayloadChars: { is: 'count', default: 2000 },
  redact: 'array',
  when: 'function',
} as const satisfies OptionTable<LoggingOptions>;

/**
 * Logs every call when it ends, as one line of JSON: `logging()`, or `logging({ payloads: true, redact: ['iban'] })` with parameters
 * and results, from which secrets are removed by their names.
 */
export function logging(options: LoggingOptions = {}): Middleware {
  const { log, payloads, maxPayloadChars, redact, when } = readOptions('logging', options, optionTable);
  const copy = redactor({ redact, maxChars: maxPayloadChars });
  const short = textOf(redactor({ redact, maxString: 256 }));
  const long = textOf(redactor({ redact, maxString: 1024 }));
  const payload = (value: Readonly<Record<string, unknown>>): unknown => {
    try {
      const { _meta, resultType, ...rest } = value;
      return copy(rest);
    } catch {
      // A value that the program made may have getters that throw.
      return UNREADABLE;
    }
  };

  function entryOf(call: Call, ms: number, { end, outcome, error }: Ended): CallLog {
    return {
      time: new Date().toISOString(),
      level: levelOf(end),
      ...factsOf(call, short),
      end,
      ms: Math.round(ms * 1000) / 1000,
      ...(error !== undefined && end !== 'asks' && { error: long(messageOf(error)) }),
      ...(payloads && { params: payload(call.params), ...(outcome && { result: payload(outcome) }) }),
    };
  }

  function loggingTo(print: (entry: CallLog) => void): Middleware {
    const write = (call: Call, ms: number, ended: Ended): unknown => print(entryOf(call, ms, ended));
    return async function logging(call, next) {
      if (when !== undefined && !when(call)) return next(call);
      const elapsed = stopwatch(call);
      try {
        const outcome = await next(call);
        tell(write, call, elapsed(), { end: endOf(outcome), outcome });
        return outcome;
      } catch (error) {
        tell(write, call, elapsed(), { end: failureOf(error), error });
        throw error;
      }
    };
  }

  if (log !== undefined) return loggingTo(log);
  const unhosted = new OperatorLog().entry;
  return Object.assign(loggingTo(unhosted), {
    // The level of a server can also be set by `serve`.
    forServer: ({ logEntry = unhosted }: MiddlewareHost) => loggingTo(logEntry),
  });
}

interface Ended {
  readonly end: string;
  readonly outcome?: Outcome;
  readonly error?: unknown;
}

type Facts = Pick<
  CallLog,
  'method' | 'target' | 'id' | 'caller' | 'issuer' | 'address' | 'client' | 'revision'
>;

/** Most methods and names of tools. Nothing in them could be hidden. */
const PLAIN = /^[\w/.-]{1,64}$/;

function textOf(redact: (value: unknown) => unknown): (text: string) => string {
  return (text) => (PLAIN.test(text) ? text : (redact(text) as string));
}

function factsOf(call: Call, short: (text: string) => string): Facts {
  const { id, peer, auth, http } = call;
  const target = targetOf(call);
  const address = http?.remoteAddress;
  return {
    method: short(call.method),
    ...(target !== undefined && { target: short(target) }),
    id: typeof id === 'number' ? id : short(id),
    ...(auth !== undefined && { caller: short(auth.subject) }),
    ...(auth?.issuer !== undefined && { issuer: short(auth.issuer) }),
    ...(address !== undefined && { address: short(address) }),
    ...(peer.client !== undefined && { client: short(`${peer.client.name} ${peer.client.version}`) }),
    revision: peer.revision,
  };
}

/** The ends of calls that nobody has to look at. Clients that disconnect are among them. */
const ORDINARY: ReadonlySet<string> = new Set(['ok', 'asks', 'cancelled', 'connection_closed']);

function levelOf(end: string): CallLog['level'] {
  if (end === 'internal_error') return 'error';
  return ORDINARY.has(end) ? 'info' : 'warning';
}

function messageOf(error: unknown): string {
  try {
    return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  } catch {
    return UNREADABLE;
  }
}
