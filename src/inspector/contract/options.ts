// The options of the process behind the page, and what the program that runs it can do with it.

import type { ConnectOptions } from '../../connect/targets/options.js';
import type { ServerObject, Target } from '../../connect/targets/target.js';
import type { TokenStore } from '../../oauth/client/store/token-store.js';
import type { FoundServer, TargetSpec } from './connection.js';
import type { Inspector } from './inspector.js';
import type { JournalCell } from './story.js';

/** Everything that differs between the inspector of the command and one that is mounted in a server. */
export interface InspectorOptions {
  /** The version of the package. */
  readonly version: string;
  /**
   * Makes a target of what the page sent, or rejects with an `McpError` for the user. Without it, the page cannot connect to other
   * servers.
   */
  readonly openTarget?: (spec: TargetSpec) => Promise<OpenedTarget>;
  /** The servers that the page offers. Called at the start, and after each connection. */
  readonly found?: () => Promise<readonly FoundServer[]>;
  /** Forgets a server that `found` returned. */
  readonly forgetServer?: (id: string) => Promise<void>;
  /** Called when a connection is ready, or has failed: to remember servers that were used. */
  readonly onConnected?: (spec: TargetSpec, opened: OpenedTarget, failure: string | undefined) => void;
  /** A server of the same process, or its URL. Its connection is there from the start, and cannot be closed. */
  readonly fixed?: {
    readonly server: ServerObject | string;
    readonly name: string;
    /** Whether its handlers report their steps to `journalEvent`. */
    readonly seesJournal?: boolean;
  };
  /** Where logins are kept. Default: in memory. */
  readonly loginStore?: TokenStore;
  /** The file that keeps the ids of tasks, so that a later visit finds them again. Default: they are kept in memory. */
  readonly taskFile?: string;
  /** The folder in which the calls of this project are kept for later visits. Default: they are kept in memory. */
  readonly historyFolder?: string;
  /** The file in which the project keeps requests. Default: none, and the page cannot keep any. */
  readonly requestsFile?: string;
  /** The file for cases of evals that come from chats. Default: none, and the page shows them only. */
  readonly casesFile?: string;
  /** The folders with tapes of evals, whose scores are shown at the tools. Default: none. */
  readonly tapeFolders?: readonly string[];
  /** The origin that serves the frames of apps. */
  readonly sandboxOrigin?: string;
}

/** A target that can be connected to. */
export interface OpenedTarget {
  readonly target: Target;
  readonly options: ConnectOptions;
  /** The URL or the command for people, without secrets. */
  readonly address: string;
  /** The target for a command line. */
  readonly typed: string;
  /** The name that the calls of this server are kept under. Default: the address. */
  readonly historyName?: string;
  /**
   * The word at the beginning of each line on stderr that is a `JournalEvent` as JSON: `<mark> <json>`. Set if the process was started
   * with the hook that reports the steps of handlers.
   */
  readonly journalMark?: string;
}

/**
 * A key that a handler met in one of its runs. Calls of the inspector carry the number of their story in `_meta` under `STORY` of
 * `protocol/tables/meta-keys.ts`.
 */
export interface JournalEvent {
  readonly story: number;
  /** From 1. */
  readonly run: number;
  readonly kind: 'ask' | 'step' | 'return';
  readonly key: string;
  readonly cell: JournalCell;
  /** The value as JSON, shortened. */
  readonly value?: string;
  readonly idempotencyKey?: string;
  /** Of a step or a `return`: the time that it took. */
  readonly ms?: number;
  /** The problem, for people, as with a question that has changed since it was answered. */
  readonly warning?: string;
}

/** The inspector, as the program that runs it has it. */
export interface RunningInspector extends Inspector {
  /** Connects as the page would, and shows this connection, and this tool, first. */
  readonly open: (spec: TargetSpec, tool?: string) => Promise<string>;
  readonly journalEvent: (event: JournalEvent) => void;
  /** Takes a line that the server of the first connection wrote to stderr, if the program that runs the inspector has started it. */
  readonly stderrLine: (line: string) => void;
}
