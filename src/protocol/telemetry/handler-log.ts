import type { Call } from '../call.js';
import { targetOf } from './call-target.js';

// The lines that handlers write to the log of the operator.

/** The levels that the log of the operator has. */
type OperatorLevel = 'info' | 'warning' | 'error';

/** Functions that write a line to the log of the operator, together with the caller, the tool and the id of the call. */
export type HandlerLog = Readonly<Record<OperatorLevel, (message: string, data?: unknown) => void>>;

/** The call that a line of a handler is about. The `logger` of a server gets it as the detail of the message. */
export interface HandlerLogDetail {
  /** The method of the call. */
  readonly method: string;
  /** The tool, the prompt or the URI of the resource. */
  readonly target?: string | undefined;
  /** The id of the request; for a task, the id of the task. */
  readonly id: string | number;
  /** The authenticated caller; undefined if there is none. */
  readonly caller?:
    | {
        /** The subject of the caller. */
        readonly subject: string;
        /** The issuer of the caller's credentials, if they have one. */
        readonly issuer?: string;
      }
    | undefined;
  /** The second argument of the function: an error, or another value. */
  readonly data?: unknown;
}

/** A detail that the log recognizes as the call of a handler. */
export class LoggedCall implements HandlerLogDetail {
  readonly method: string;
  readonly target: string | undefined;
  readonly id: string | number;
  readonly caller: HandlerLogDetail['caller'];
  readonly data: unknown;

  constructor(call: Call, uri: string | undefined, data: unknown) {
    const { auth } = call;
    this.method = uri === undefined ? call.method : 'resources/read';
    this.target = uri ?? targetOf(call);
    this.id = call.id;
    this.caller = auth && {
      subject: auth.subject,
      ...(auth.issuer !== undefined && { issuer: auth.issuer }),
    };
    this.data = data;
  }
}

/** Makes the functions of `ctx.logger`. `detail` is called when a line is written: a call may have become a task by then. */
export function handlerLog(
  log: (level: OperatorLevel, message: string, detail: LoggedCall) => void,
  detail: (data: unknown) => LoggedCall,
): HandlerLog {
  const at =
    (level: OperatorLevel) =>
    (message: string, data?: unknown): void => {
      try {
        log(level, String(message), detail(data));
      } catch {
        // A log must not end the call that it is about.
      }
    };
  return { info: at('info'), warning: at('warning'), error: at('error') };
}
