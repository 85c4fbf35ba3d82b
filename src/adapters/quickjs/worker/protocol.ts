// The messages between the server and a worker thread that runs programs.

import type { CodeProgram, CodeResult, CodeTurn } from '../../../protocol/code/code-engine.js';

/** The limits of one program. */
export interface RealmLimits {
  /** The memory of the program. */
  readonly memoryBytes: number;
  /** The stack of the program. */
  readonly stackBytes: number;
  /** The steps of the engine in all turns together. */
  readonly maxSteps: number;
  /** The time of one turn. */
  readonly turnMs: number;
  /** The characters of the arguments of one call, and of the returned value. */
  readonly maxValueChars: number;
  /** The characters that a turn may print; the rest is left out. */
  readonly maxPrintedChars: number;
  /** The calls that a turn may make. */
  readonly maxTurnCalls: number;
  /** The characters of the name of a tool. */
  readonly maxNameChars: number;
  /** The characters of the arguments of all calls together. */
  readonly maxSentChars: number;
}

/** The data that a worker starts with. */
export interface WorkerStart {
  readonly wasm: WebAssembly.Module;
  /** The address of the engine's module. */
  readonly engine: string;
  /** The address of the module that removes types; undefined if it is not installed. */
  readonly types: string | undefined;
  readonly limits: RealmLimits;
}

/** A message to a worker. It replies to each `start` and `result`, in their order. */
export type ToThread =
  | { readonly do: 'start'; readonly realm: number; readonly program: CodeProgram }
  | { readonly do: 'result'; readonly realm: number; readonly result: CodeResult }
  | { readonly do: 'end'; readonly realm: number };

/** A message from a worker: it is ready, it loads the module that removes types, a program begins to compute, or a turn has ended. */
export type FromThread =
  | { readonly ready: true }
  | { readonly loading: true }
  | { readonly begun: true }
  | {
      readonly turn: CodeTurn;
      /** The module that removes types has failed on a source, and cannot be used again. */
      readonly isBroken?: boolean;
    };
