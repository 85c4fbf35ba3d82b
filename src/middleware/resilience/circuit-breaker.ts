import { BoundedMap } from '../../async/bounded-map.js';
import type { Call, Middleware } from '../../protocol/call.js';
import { type OptionTable, readOptions } from '../../protocol/checks/options.js';
import { type ErrorCode, McpError } from '../../protocol/errors.js';
import { isLongLived } from '../facts/call-facts.js';
import { type CallGroup, callGroup, groupNamer } from '../facts/call-groups.js';

/** The state of a circuit. `open`: calls are refused. `half-open`: one call tries whether the other end works again. */
type CircuitState = 'closed' | 'open' | 'half-open';

/** The options of `circuitBreaker`. */
export interface CircuitBreakerOptions {
  /** The number of failures in a row that opens the circuit. Default: 5. */
  readonly failures?: number | undefined;
  /** The time in milliseconds for which calls are refused, until one call may try again. Default: 10,000. */
  readonly openMs?: number | undefined;
  /** The calls that share a circuit: `everyone` for all, `tool` for those of each tool, or a function. Default: `everyone`. */
  readonly by?: CallGroup | undefined;
  /** Whether an error is a failure of the other end. Default: lost connections, timeouts, overload, internal errors and bad responses. */
  readonly isFailure?: ((error: unknown, call: Call) => boolean) | undefined;
  /** Whether a result with `isError` is a failure, too. Default: false, because most of them are about the arguments. */
  readonly toolErrors?: boolean | undefined;
  /** Called when a circuit changes its state, with the name of its calls. Default: nothing. */
  readonly onChange?: ((state: CircuitState, name: string) => void) | undefined;
}

const optionTable = {
  failures: { is: 'count', default: 5 },
  openMs: { is: 'count', default: 10_000 },
  by: { ...callGroup, default: 'everyone' },
  isFailure: 'function',
  toolErrors: { is: 'boolean', default: false },
  onChange: 'function',
} as const satisfies OptionTable<CircuitBreakerOptions>;

/** Callers choose the names of tools, so that only so many circuits with failures are known. */
const MAX_CIRCUITS = 10_000;
/** While one call tries, others need not wait for the whole time. */
const TRIAL_MS = 1000;

const FAILURES: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'connection_closed',
  'connect_failed',
  'timeout',
  'internal_error',
  'bad_response',
  'overloaded',
]);

/** A circuit with failures. One without is not stored. */
interface Circuit {
  failures: number;
  /** The time until which calls are refused, on a clock that is never set; undefined while the circuit is closed. */
  openUntil: number | undefined;
  /** Whether a call tries now. */
  isTrying: boolean;
}

/**
 * Stops calling what fails: after 5 failures in a row, calls are refused at once for 10 s; then one call tries, and its end decides. The error
 * says when to retry. Errors that the caller has caused, such as invalid parameters, do not count. Subscriptions and tasks pass.
 */
export function circuitBreaker(options: CircuitBreakerOptions = {}): Middleware {
  const read = readOptions('circuitBreaker', options, optionTable);
  const { failures, openMs, by, isFailure = isPeerFailure, toolErrors, onChange } = read;
  const nameOf = groupNamer(by);
  const circuits = new BoundedMap<string, Circuit>(MAX_CIRCUITS);

  /** Refuses a call, or tells whether it is the one that tries. */
  function admit(circuit: Circuit | undefined, name: string): boolean {
    if (circuit?.openUntil === undefined) return false;
    const waitMs = circuit.openUntil - performance.now();
    if (waitMs > 0 || circuit.isTrying)
      throw refused(circuit, waitMs > 0 ? waitMs : Math.min(TRIAL_MS, openMs));
    circuit.isTrying = true;
    onChange?.('half-open', name);
    return true;
  }

  function succeeded(name: string, isTrial: boolean): void {
    const circuit = circuits.get(name);
    // A call from before the circuit opened says nothing about now.
    if (circuit === undefined || (circuit.openUntil !== undefined && !isTrial)) return;
    circuits.delete(name);
    if (isTrial) onChange?.('closed', name);
  }

  function failed(name: string, isTrial: boolean): void {
    const circuit = circuits.get(name) ?? newCircuit(name);
    circuit.failures++;
    const isOpen = circuit.openUntil !== undefined;
    if (isTrial || (!isOpen && circuit.failures >= failures)) {
      circuit.openUntil = performance.now() + openMs;
      onChange?.('open', name);
    }
  }

  function newCircuit(name: string): Circuit {
    const circuit = { failures: 0, openUntil: undefined, isTrying: false };
    circuits.set(name, circuit);
    return circuit;
  }

  return async function circuitBreaker(call, next) {
    const name = isLongLived(call) ? undefined : nameOf(call);
    if (name === undefined) return next(call);
    const circuit = circuits.get(name);
    const isTrial = admit(circuit, name);
    try {
      const outcome = await next(call);
      if (toolErrors && outcome['isError'] === true) failed(name, isTrial);
      else succeeded(name, isTrial);
      return outcome;
    } catch (error) {
      if (isFailure(error, call)) failed(name, isTrial);
      else if (isAnswer(error)) succeeded(name, isTrial);
      throw error;
    } finally {
      // After a trial that was cancelled, the next call tries.
      if (isTrial && circuit !== undefined) circuit.isTrying = false;
    }
  };
}

// An error that is not an McpError is an internal error to the caller. After Too Many Requests, the caller has to wait, nobody else.
function isPeerFailure(error: unknown): boolean {
  return McpError.is(error) ? FAILURES.has(error.code) && error.status !== 429 : true;
}

/** Whether the other end has answered. A call that was cancelled, or that was refused for its rate, says nothing. */
function isAnswer(error: unknown): boolean {
  return McpError.is(error) && error.code !== 'cancelled' && error.status !== 429;
}

function refused({ failures }: Circuit, waitMs: number): McpError {
  const retryAfterMs = Math.ceil(waitMs);
  return new McpError(
    'overloaded',
    `The call was not made, because the last ${failures} have failed. Retry in ${(retryAfterMs / 1000).toFixed(1)} s.`,
    { data: { retryAfterMs } },
  );
}
