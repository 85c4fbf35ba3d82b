// The seam between a server and the engine that runs the programs of models.

/**
 * Runs the programs that models write: `quickjs()` of `fullmcp/code`. The same program with the same results must do the same in every run
 * of an engine, because a program that has waited runs again from its first line.
 */
export interface CodeEngine {
  /** The engine, its version and everything else that a run depends on. A program that has waited continues only in the same engine. */
  readonly id: string;
  /** Opens the engine for a server. Called with the first program. */
  readonly open: () => Promise<CodeRealms>;
  /** For servers only: makes the tool that runs programs. It comes with the engine, so that other servers do not load it. */
  readonly '~front': (parts: never) => unknown;
  /** For gateways only: makes the server that runs programs, which call other servers. */
  readonly '~programs': (parts: never) => unknown;
  /** For clients only: makes the tools that a model gets. */
  readonly '~client': (parts: never) => unknown;
}

/** An engine that is open for a server. */
export interface CodeRealms {
  /** Prepares a program in a realm of its own. Throws an `McpError` with the code `overloaded` if too many programs are running. */
  readonly realm: (program: CodeProgram) => CodeRealm;
  /** Ends all programs, and frees the resources. */
  readonly close: () => Promise<void>;
}

/** A program to run. */
export interface CodeProgram {
  /** The body of an async function, in JavaScript or TypeScript. */
  readonly source: string;
  /** The seed of `Math.random`, a 32-bit integer. */
  readonly seed: number;
  /** The time on the program's clock when it starts, in milliseconds since 1970. */
  readonly now: number;
  /** The name of the caller, among whom the engine divides what it has; undefined if the caller is not known. */
  readonly caller?: string;
}

/** One program that is running. */
export interface CodeRealm {
  /**
   * Runs the program until it can only wait: from its start, or with the result of one of its calls. Rejects with a `RealmLost` if the
   * realm was lost without a fault of the program, which can then run again from its start.
   */
  readonly run: (result?: CodeResult) => Promise<CodeTurn>;
  /** Ends the program. Nothing of it runs any more, except for what the engine cannot interrupt. */
  readonly end: () => void;
}

/** The result of a call that a program made. */
export type CodeResult = {
  /** The number of the call. */
  readonly seq: number;
  /** The time on the program's clock from now on, in milliseconds since 1970. */
  readonly now: number;
} & (
  | {
      /** The call has succeeded. */
      readonly kind: 'value';
      /** The value as JSON. */
      readonly json: string;
    }
  | {
      /** The call has failed. */
      readonly kind: 'error';
      /** The reason, for the model. */
      readonly message: string;
      /** The stable name of the reason. */
      readonly code: string;
    }
  | {
      /** The call was not made. */
      readonly kind: 'unknown';
    }
);

/** A call that a program makes. */
export interface CodeCall {
  /** The number of the call in the program: 1, 2, 3. */
  readonly seq: number;
  /** The name of the tool. */
  readonly name: string;
  /** The arguments, an object, as JSON. */
  readonly json: string;
  /** The line of the program that makes the call; undefined if it is not known. */
  readonly line?: number;
}

/** Everything that a program did until it could only wait. */
export interface CodeTurn {
  /** The calls that it made, in their order. */
  readonly calls: readonly CodeCall[];
  /** The lines that it printed. */
  readonly printed: readonly string[];
  /** How the program has ended; undefined while it waits. */
  readonly end?: CodeEnd | undefined;
}

/** The end of a program. */
export type CodeEnd =
  | {
      /** The program has returned. */
      readonly kind: 'returned';
      /** The value as JSON. */
      readonly json: string;
    }
  | {
      /** The program has thrown, or is not a program. */
      readonly kind: 'threw';
      /** The name of the error. */
      readonly name: string;
      /** Its message. */
      readonly message: string;
      /** The line of the program; undefined if it is not known. */
      readonly line: number | undefined;
    }
  | {
      /** The program has reached a limit. */
      readonly kind: 'limit';
      /** The limit, and what to do. */
      readonly message: string;
    }
  | {
      /** The program has used the result of a call that was not made. */
      readonly kind: 'unknown';
    };

/** The realm of a program was lost, because the process or the thread of the engine has ended. The program can run again from its start. */
export class RealmLost extends Error {
  constructor(reason: string) {
    super(`The realm of the program was lost: ${reason}`);
    this.name = 'RealmLost';
  }
}
