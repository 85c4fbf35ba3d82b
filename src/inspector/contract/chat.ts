// A chat of the user with a model that has the tools of a server, as the page sees it. The key of the model is not in it.

export interface ChatView {
  readonly connection: string;
  /** The name of the model. */
  readonly model: string;
  /** The host that gets the requests. */
  readonly host: string;
  /** Whose turn it is: the user's, the model's, or that of calls. */
  readonly state: 'idle' | 'model' | 'calls';
  /** Whether tools that say that they only read are called without asking. */
  readonly trusts: boolean;
  readonly entries: readonly ChatEntry[];
  /** The tokens so far, and the most that the chat may use. */
  readonly tokens: number;
  readonly maxTokens: number;
  /** The cost so far; undefined without prices. */
  readonly cost?: number;
  /** Whether the model did not say how many tokens it used, so that the most that it could be is counted. */
  readonly isEstimate: boolean;
  /** The name of the file for cases; undefined if there is none to write to. */
  readonly file?: string;
}

export type ChatEntry = { readonly id: number } & (
  | { readonly kind: 'ask'; readonly text: string }
  | {
      readonly kind: 'reply';
      readonly text: string;
      /** Whether more of it comes. */
      readonly isPartial: boolean;
      readonly calls: readonly ChatCallView[];
    }
  /** Why the model did not go on. */
  | { readonly kind: 'note'; readonly text: string }
);

/** A call that the model wants. */
export interface ChatCallView {
  readonly id: string;
  readonly tool: string;
  /** The arguments as JSON, all of them. */
  readonly args: string;
  /** `asks` waits for the user, `waits` for the calls before it; `refused` was never possible. */
  readonly state: 'asks' | 'waits' | 'runs' | 'done' | 'declined' | 'refused' | 'stopped';
  /** The digest of the server, the tool with its definition, and the arguments: what the user agrees to. */
  readonly digest: string;
  /** Why it was refused, or why the user is asked again. */
  readonly why?: string;
  /** Its story, once it was sent. */
  readonly story?: number;
}

/** The decision of the user about a call. `always` is for this definition of the tool, in this chat. */
export const chatDecisions = ['once', 'always', 'decline'] as const;
export type ChatDecision = (typeof chatDecisions)[number];
