// A call that the model of a chat wants: whether the user agrees, and what became of it.

import type { JsonObject } from '../../jsonrpc/message.js';
import { McpError } from '../../protocol/errors.js';
import type { ChatCallView, ChatDecision } from '../contract/chat.js';

export class ChatCall {
  readonly id: string;
  readonly tool: string;
  readonly args: JsonObject;
  /** The arguments as they are shown. They are sent from the same object, which nobody changes. */
  readonly shown: string;
  state: ChatCallView['state'] = 'waits';
  digest = '';
  why: string | undefined;
  story: number | undefined;
  #decided: ((decision: ChatDecision | 'stop') => void) | undefined;
  #decision: Promise<ChatDecision | 'stop'> | undefined;

  /** `written` is what the model wrote, which is shown if it is not an object. */
  constructor(
    id: string,
    {
      tool,
      args,
      written,
    }: { readonly tool: string; readonly args: JsonObject | undefined; readonly written: string },
  ) {
    this.id = id;
    this.tool = tool;
    this.args = args ?? {};
    this.shown = args === undefined ? written : JSON.stringify(args, undefined, 2);
  }

  /** Asks the user about what has this digest. */
  ask(digest: string, why?: string): void {
    this.state = 'asks';
    this.digest = digest;
    this.why = why;
    this.#decision = new Promise((resolve) => {
      this.#decided = resolve;
    });
  }

  /** The decision of the user; `once` if nobody was asked. */
  get decision(): Promise<ChatDecision | 'stop'> {
    return this.#decision ?? Promise.resolve('once');
  }

  /** Takes the decision, which is about exactly what the user has seen. */
  decide(digest: string, decision: ChatDecision): void {
    if (this.state !== 'asks') throw new McpError('invalid_request', 'This call waits for no decision.');
    if (digest !== this.digest)
      throw new McpError('invalid_request', 'The call is not the one that was shown. Look at it again.');
    this.state = 'waits';
    this.why = undefined;
    this.#decided?.(decision);
  }

  /** Ends the wait for a decision. */
  stop(): void {
    if (this.state === 'asks' || this.state === 'waits') this.state = 'stopped';
    this.#decided?.('stop');
  }

  refuse(why: string): void {
    this.state = 'refused';
    this.why = why;
  }

  get view(): ChatCallView {
    const { id, tool, shown: args, state, digest, why, story } = this;
    return {
      ...{ id, tool, args, state, digest },
      ...(why !== undefined && { why }),
      ...(story !== undefined && { story }),
    };
  }
}
