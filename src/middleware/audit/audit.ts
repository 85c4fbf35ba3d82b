import type { JsonObject } from '../../jsonrpc/message.js';
import type { Call, Dispatch, Middleware, Outcome } from '../../protocol/call.js';
import { type OptionTable, readOptions } from '../../protocol/checks/options.js';
import { McpError, UNKNOWN_OUTCOME } from '../../protocol/errors.js';
import type { HostedMiddleware, MiddlewareHost } from '../../state/hosted-middleware.js';
import { type RefusalListener, withRefusalListeners } from '../../state/refusal-listeners.js';
import { stopwatch } from '../facts/call-facts.js';
import { type RedactOptions, redactor, redactTable } from '../facts/redact.js';
import { type AuditEnd, type AuditEntry, errorEnd, factsOf, outcomeEnd } from './entry.js';
import { type AuditSink, AuditWriter } from './writer.js';

/** The options of `audit`. */
export interface AuditOptions extends RedactOptions {
  /** The place for the entries: `auditFile` of `fullmcp/node`, a sink of your own, or only its function `write`. */
  readonly to: AuditSink | AuditSink['write'];
  /**
   * Whether an entry is written before each call runs, and another one when it ends. Nothing that has run is missing from the log
   * then, even after a crash; each call waits for two writes instead of one. Default: false, one entry when the call ends.
   */
  readonly intent?: boolean | undefined;
  /**
   * The fate of calls while entries cannot be written. `refuse`: calls are refused, and results of calls that cannot be recorded
   * are withheld. `continue`: calls run; their entries are written later, as far as `maxPending` allows. Default: `refuse`.
   */
  readonly onFailure?: 'refuse' | 'continue' | undefined;
  /** Tells which calls are recorded. Default: all but `ping`. */
  readonly when?: ((call: Call) => boolean) | undefined;
  /** Further facts about a call, such as the tenant. They are redacted and cut off like the parameters. Default: none. */
  readonly about?: ((call: Call) => JsonObject | undefined) | undefined;
  /** The number of entries that are kept in memory while they cannot be written. Default: 10,000. */
  readonly maxPending?: number | undefined;
}

const optionTable = {
  ...redactTable,
  to: 'any',
  intent: { is: 'boolean', default: false },
  onFailure: { oneOf: ['refuse', 'continue'], default: 'refuse' },
  when: 'function',
  about: 'function',
  maxPending: { is: 'count', default: 10_000 },
} as const satisfies OptionTable<AuditOptions>;

const consequences = {
  refuse: 'calls are refused until it can be',
  continue: 'calls continue, and their entries are kept in memory',
};

/** The time after which a client may try again while the log cannot be written. */
const RETRY_AFTER_MS = 5000;

/**
 * Records who called what, with which arguments, when, and with what outcome. A call is answered after its entry was written:
 * `use: [audit({ to: auditFile({ path: 'audit.jsonl', secret }) })]`. Place it early, so that it also records the calls that other
 * middleware refuses.
 */
export function audit(options: AuditOptions): HostedMiddleware {
  const read = readOptions('audit', options, optionTable);
  const { to, intent, onFailure, when = isRecorded, about, maxPending } = read;
  const consequence = consequences[onFailure];
  const writer = new AuditWriter({ sink: readSink(to), maxPending, consequence });
  const parts = { redact: redactor(read), about };
  const mayRefuse = onFailure === 'refuse';
  let calls = 0;
  let servers = 0;

  /** Waits until an entry is written. Throws what `failure` makes of the error if calls may be refused. */
  async function write(entry: AuditEntry | undefined, failure: (cause: unknown) => McpError): Promise<void> {
    try {
      await (entry === undefined ? writer.flush() : writer.add(entry));
    } catch (error) {
      if (mayRefuse) throw failure(error);
    }
  }

  async function audit(call: Call, next: Dispatch): Promise<Outcome> {
    if (!when(call)) return next(call);
    if (mayRefuse && writer.isFailing) await write(undefined, refused);
    const elapsed = stopwatch(call);
    const facts = factsOf(call, ++calls, parts);
    const { call: number, method, name } = facts;
    const toEntry = (end: AuditEnd): AuditEntry =>
      intent
        ? { type: 'end', at: new Date().toISOString(), call: number, method, name, ...end }
        : { type: 'call', ...facts, ...end };

    if (intent)
      await write({ type: 'start', ...facts }, (cause) => {
        // The entry may be written later, so another one has to say that the call never ran.
        void writer.add(toEntry(errorEnd(refused(cause), elapsed())));
        return refused(cause);
      });
    let outcome: Outcome;
    try {
      outcome = await next(call);
    } catch (error) {
      await write(toEntry(errorEnd(error, elapsed())), withheld);
      throw error;
    }
    await write(toEntry(outcomeEnd(outcome, elapsed())), withheld);
    return outcome;
  }

  const refusals: RefusalListener = {
    report({ status, reason, count, address }) {
      const at = new Date().toISOString();
      // The request is refused already. A writer that fails reports it by itself.
      void writer.add({ type: 'refused', at, status, reason, count, address }).catch(() => undefined);
    },
  };

  function forServer({ log, attach, onRefused }: MiddlewareHost): Middleware {
    writer.log = log;
    servers++;
    onRefused?.(refusals);
    attach({
      async start() {
        await writer.open().catch((error: unknown) => {
          if (mayRefuse) throw error;
          log('error', `The audit log cannot be opened: ${consequence}`, error);
        });
      },
      async ready() {
        // No call would find out that the log can be written again, because none comes to a server that is not ready.
        if (mayRefuse && writer.isFailing) await writer.flush();
      },
      async close() {
        if (--servers === 0) await writer.close();
      },
    });
    return audit;
  }

  return withRefusalListeners(Object.assign(audit, { forServer }), [refusals]);
}

function isRecorded({ method }: Call): boolean {
  return method !== 'ping';
}

function refused(cause: unknown): McpError {
  return new McpError(
    'overloaded',
    'The server cannot write its audit log and refuses calls until it can. The call did not run. Retry later.',
    { cause, data: { retryAfterMs: RETRY_AFTER_MS } },
  );
}

function withheld(cause: unknown): McpError {
  return new McpError(
    'internal_error',
    'The call ran, but the server could not write it to its audit log, so its result is withheld. Find out whether it took effect before you repeat it.',
    { cause, data: { reason: UNKNOWN_OUTCOME } },
  );
}

function readSink(to: unknown): AuditSink {
  if (typeof to === 'function') return { write: to as AuditSink['write'] };
  if (typeof to === 'object' && to !== null && typeof (to as AuditSink).write === 'function')
    return to as AuditSink;
  throw new TypeError(
    'audit: `to` must be auditFile({ path }) of fullmcp/node, a function, or an object with a function "write".',
  );
}
