import type { Auth, Call, Outcome } from '../../protocol/call.js';
import type { DirectDispatch } from '../../protocol/direct.js';
import type { Store } from '../../state/store.js';
import type { Topic } from '../../state/topic.js';
import type { FallbacksOptions } from '../define/fallback-options.js';
import type { Complete } from '../results/results.js';
import type { TaskAnnouncement } from '../state/changes.js';
import type { Logger } from '../state/log.js';
import type { TaskHost } from './task-host.js';

/** Does for clients what they cannot do themselves. The server knows only this interface. */
export interface FallbackHost {
  readonly listTools: DirectDispatch;
  readonly callTool: DirectDispatch;
  /** Describes the server, unless the client shows questions in a session only; undefined if it is always described. */
  readonly discover: DirectDispatch | undefined;
  /** The tasks of the server, for clients that have tasks. */
  readonly tasks: TaskHost;
  /** Whether the server has this tool for clients that need it. */
  readonly defines: (tool: string) => boolean;
  /** The page that asks users; undefined if there is none. */
  readonly page: AskingPage | undefined;
  /** Ends the calls that wait for tasks. */
  readonly close: () => void;
}

/** A page that asks the users of clients that cannot ask. */
export interface AskingPage {
  /** The path of its address. */
  readonly path: string;
  /** Replies to a browser. `auth` is the caller that the browser has proved to be; undefined if it has not. */
  readonly reply: (request: Request, auth: Auth | undefined) => Promise<Response>;
}

/** The parts that fallbacks are made of. */
export interface FallbackPluginParts {
  /** The name of the server. */
  readonly server: string;
  readonly options: FallbacksOptions;
  readonly store: Store;
  readonly tasks: TaskHost;
  /** The description of the server. */
  readonly discover: () => Outcome;
  /** The tools as the server has them. */
  readonly listTools: DirectDispatch;
  readonly callTool: (call: Call) => Outcome | Promise<Outcome>;
  /** How the calls of a tool run: as a task from the start, as one from the middle, or never. Undefined if there is no such tool. */
  readonly kindOf: (tool: string) => 'task' | 'background' | 'call' | undefined;
  /** Whether a tool can run as a task. */
  readonly offersTasks: () => boolean;
  readonly changes: Topic<TaskAnnouncement>;
  readonly complete: Complete;
  /** The secrets of the server; undefined if none was set. */
  readonly secrets: () => readonly string[] | undefined;
  readonly log: Logger;
}
