// A chat of the user with a model that has the tools of one connection. Every call is a story like any other, and the user agrees to it first.

import { basename } from 'node:path';
import { ToolCallResult } from '../../client/calls/read-results.js';
import type { ToolAnswer } from '../../client/model/results.js';
import { addCase, printCase, type SavedCase } from '../../evals/cases/case-file.js';
import type { EvalEnd } from '../../evals/cases/transcript.js';
import type { AskModel, ModelMessage, ModelReply, RequestedCall } from '../../evals/model/model.js';
import { answerForModel, answerOfText, offerTools } from '../../evals/model/offered-tools.js';
import { modelOverHttp } from '../../evals/model/over-http.js';
import { retryingModel } from '../../evals/model/retrying.js';
import { systemOf } from '../../evals/run/asked-parts.js';
import { Budget } from '../../evals/run/budget.js';
import { MAX_CALLS_OF_REPLY, talk } from '../../evals/run/converse.js';
import { digestOf } from '../../evals/tape/digest.js';
import type { JsonObject } from '../../jsonrpc/message.js';
import { tryParseObject } from '../../jsonrpc/try-parse.js';
import { shorten } from '../../protocol/encoding/shorten.js';
import { McpError } from '../../protocol/errors.js';
import type { ListedTool } from '../../protocol/model/model.js';
import type { ChatDecision, ChatEntry, ChatView } from '../contract/chat.js';
import type { ToolView } from '../contract/connection.js';
import { callTool } from '../session/actions.js';
import type { InspectedConnection } from '../session/connection/connection.js';
import { ChatCall } from './chat-call.js';
import { caseOf, type Turn } from './chat-case.js';
import type { ChatModel } from './chat-model.js';

/** The requests for one answer. */
const MAX_ROUNDS = 10;
const MAX_ASKS = 100;
/** The characters of everything that the page shows, whatever a model says about its tokens. */
const MAX_CHARS = 2_000_000;
const MAX_REPLY = 50_000;
/** Arguments that a person cannot read are not agreed to. */
const MAX_ARGS = 50_000;
const MAX_WRITTEN = 1000;
/** Words that arrive are shown together: more often, nobody could read them. */
const WORDS_MS = 100;

/** Why there is no answer; empty if there is one. */
const NOTES: Readonly<Record<EvalEnd, string>> = {
  answer: '',
  length: 'The reply is as long as a reply may be, and was cut.',
  refused: 'The model refused to answer.',
  other: 'The model stopped without saying why.',
  rounds: `The model has not come to an answer in ${MAX_ROUNDS} requests. Tell it to continue, or say something else.`,
  loop: 'The model makes the same call again and again, and was stopped.',
};

interface ReplyEntry {
  readonly id: number;
  readonly kind: 'reply';
  text: string;
  isPartial: boolean;
  calls: readonly ChatCall[];
}

type Entry = ReplyEntry | { readonly id: number; readonly kind: 'ask' | 'note'; readonly text: string };

export interface ChatParts {
  readonly connection: InspectedConnection;
  readonly model: ChatModel;
  /** The file for cases. */
  readonly casesFile: string | undefined;
  readonly onChange: () => void;
}

export class Chat {
  readonly #parts: ChatParts;
  readonly #ask: AskModel;
  readonly #budget: Budget;
  readonly #entries: Entry[] = [];
  readonly #messages: ModelMessage[] = [];
  /** The digests of the tools that the user has allowed for this chat, with their definitions. */
  readonly #allowed = new Set<string>();
  #lastId = 0;
  #chars = 0;
  #shownAt = 0;
  #state: ChatView['state'] = 'idle';
  #running: AbortController | undefined;

  constructor(parts: ChatParts) {
    this.#parts = parts;
    const { model, connection } = parts;
    const { target, key, maxTokens } = model;
    // From now on, the page sees the key nowhere, whoever repeats it.
    connection.learn(key);
    this.#budget = new Budget({ tokens: maxTokens });
    const over = modelOverHttp(target, key);
    const attempt: AskModel = (request, options) => {
      this.#beginReply();
      return over(request, { ...options, onWords: (words) => this.#takeWords(words) });
    };
    this.#ask = retryingModel(this.#budget.around(attempt, target));
  }

  get view(): ChatView {
    const { connection, model, casesFile } = this.#parts;
    const { target, maxTokens, trusts } = model;
    const { tokens, cost, isEstimate } = this.#budget.spent;
    return {
      ...{ connection: connection.id, model: target.name, host: target.url.host, state: this.#state },
      ...{ trusts, tokens, maxTokens, isEstimate },
      entries: this.#entries.map((entry) => this.#entryView(entry)),
      ...(cost !== undefined && target.price !== undefined && { cost }),
      ...(casesFile !== undefined && { file: basename(casesFile) }),
    };
  }

  /** Says something to the model, without the secrets that a user may have pasted. Continues by itself. */
  say(words: string): void {
    const text = this.#parts.connection.mask(words);
    if (this.#running !== undefined)
      throw new McpError('invalid_request', 'The model has not answered yet. Stop it first.');
    const asks = this.#entries.filter(({ kind }) => kind === 'ask').length;
    if (asks >= MAX_ASKS || this.#chars > MAX_CHARS)
      throw new McpError('overloaded', 'This chat is full. Begin a new one.');
    // Without a connection, nothing is asked.
    void this.#parts.connection.open;
    const running = new AbortController();
    this.#running = running;
    this.#add({ kind: 'ask', text });
    const last = this.#messages.at(-1);
    // After a failure, the words before have no answer yet.
    if (last?.role === 'user')
      this.#messages[this.#messages.length - 1] = { role: 'user', text: `${last.text}\n\n${text}` };
    else this.#messages.push({ role: 'user', text });
    void this.#answer(running.signal);
  }

  /** Takes the decision of the user about a call. */
  decide(id: string, digest: string, decision: ChatDecision): void {
    const call = this.#calls().find((one) => one.id === id);
    if (call === undefined) throw new McpError('invalid_params', 'There is no such call in this chat.');
    call.decide(digest, decision);
    this.#changed();
  }

  /** Ends what the model does: its reply, and its calls. */
  stop(): void {
    const running = this.#running;
    if (running === undefined) return;
    running.abort(new McpError('cancelled', 'You stopped the model.'));
    const { book } = this.#parts.connection.init.shared;
    for (const call of this.#calls()) {
      if (call.state === 'runs' && call.story !== undefined) void book.get(call.story)?.stop?.('stopped');
      call.stop();
    }
    this.#changed();
  }

  /** The text of a turn as a case. */
  caseText(ask: number): string {
    return printCase(this.#caseOf(ask));
  }

  /** Adds a turn to the file of cases. */
  async saveCase(ask: number): Promise<string> {
    const { casesFile, connection } = this.#parts;
    if (casesFile === undefined)
      throw new McpError('forbidden', 'This inspector writes no cases. Copy the case instead.');
    await addCase(casesFile, connection.init.opened.typed, this.#caseOf(ask)).catch((error: unknown) => {
      throw new McpError('invalid_request', (error as Error).message);
    });
    return basename(casesFile);
  }

  #caseOf(id: number): SavedCase {
    const { connection, model } = this.#parts;
    return caseOf(this.#turn(id), connection, model.key);
  }

  #turn(id: number): Turn {
    const at = this.#entries.findIndex((entry) => entry.id === id);
    const entry = this.#entries[at];
    if (entry?.kind !== 'ask') throw new McpError('invalid_params', 'There is no such request in this chat.');
    const after = this.#entries.slice(at + 1);
    const end = after.findIndex(({ kind }) => kind === 'ask');
    if (end === -1 && this.#running !== undefined)
      throw new McpError('invalid_request', 'The model has not answered yet.');
    const own = end === -1 ? after : after.slice(0, end);
    return { ask: entry.text, calls: own.flatMap((one) => (one.kind === 'reply' ? one.calls : [])) };
  }

  async #answer(signal: AbortSignal): Promise<void> {
    try {
      const note = NOTES[await this.#talk(signal)];
      this.#endReply();
      const isSilent = note === '' && this.#entries.at(-1)?.kind === 'ask';
      if (note !== '' || isSilent)
        this.#add({ kind: 'note', text: isSilent ? 'The model said nothing.' : note });
    } catch (error) {
      const { message } = (signal.aborted ? signal.reason : error) as Error;
      this.#add({ kind: 'note', text: this.#parts.connection.mask(message) });
    } finally {
      this.#endReply();
      this.#running = undefined;
      this.#state = 'idle';
      this.#changed();
    }
  }

  async #talk(signal: AbortSignal): Promise<EvalEnd> {
    const { connection, model } = this.#parts;
    const listed = connection.catalog.tools.map(({ tool }) => tool as unknown as ListedTool);
    let current: ChatCall | undefined;
    const call = (): Promise<ToolAnswer> => this.#call(current as ChatCall, signal);
    const offered = offerTools({ tools: listed, call }, model.target.api);
    let waiting: readonly ChatCall[] = [];
    return talk(this.#messages, {
      ask: this.#ask,
      system: systemOf({ instructions: connection.view.server?.instructions ?? '' }),
      tools: offered.tools,
      maxRounds: MAX_ROUNDS,
      signal,
      onReply: (reply) => {
        waiting = this.#takeReply(reply, offered.names);
        if (this.#chars > MAX_CHARS) throw new McpError('overloaded', 'This chat is full. Begin a new one.');
      },
      perform: async (asked) => {
        [current, ...waiting] = waiting;
        return offered.run(asked);
      },
      onRepeated: () => {
        [current, ...waiting] = waiting;
        current?.refuse('The model has made this call three times already.');
      },
    });
  }

  /** Makes a call once the user has agreed to it. A refusal is a result, too, which the model reads. */
  async #call(call: ChatCall, signal: AbortSignal): Promise<ToolAnswer> {
    this.#state = 'calls';
    this.#changed();
    const why = await this.#refusal(call, signal);
    const answer = why === undefined ? await this.#perform(call) : answerOfText(why, true);
    this.#state = 'model';
    this.#changed();
    return answer;
  }

  /** The reason why a call is not made; undefined if the user agrees. A definition that has changed meanwhile is shown again. */
  async #refusal(call: ChatCall, signal: AbortSignal): Promise<string | undefined> {
    for (;;) {
      if (call.state === 'refused') return call.why;
      const decision = await call.decision;
      if (decision === 'stop' || signal.aborted) {
        call.stop();
        return 'The user stopped this call.';
      }
      if (decision === 'decline') {
        call.state = 'declined';
        return 'The user declined this call.';
      }
      const now = this.#digestOf(call);
      if (now === call.digest) {
        if (decision === 'always') this.#allowed.add(this.#definitionDigest(call.tool));
        return undefined;
      }
      if (now === '') call.refuse('The server no longer has this tool.');
      else call.ask(now, 'The definition of the tool has changed since you were asked.');
      this.#changed();
    }
  }

  async #perform(call: ChatCall): Promise<ToolAnswer> {
    const { connection } = this.#parts;
    const { tool, args } = call;
    const asTask = this.#viewOf(tool)?.task === 'always';
    let outcome: string | undefined;
    call.state = 'runs';
    try {
      const { story, ended } = callTool(connection, {
        ...{ tool, args, asTask },
        onStory: ({ id }) => {
          call.story = id;
          this.#changed();
        },
        onEnding: (ending) => {
          outcome = ending.outcome;
        },
      });
      await ended;
      const result = tryParseObject(connection.mask(outcome ?? ''));
      const { error, state } = story.view;
      call.state = state === 'cancelled' ? 'stopped' : 'done';
      if (result === undefined || error !== undefined)
        return answerOfText(error?.message ?? 'The call has no result.', true);
      return answerForModel(new ToolCallResult(result, { name: tool, id: undefined }, ''));
    } catch (error) {
      call.state = call.story === undefined ? 'refused' : 'done';
      return answerOfText(connection.mask((error as Error).message), true);
    }
  }

  /** Shows a reply with its calls, and asks the user about those that need it. */
  #takeReply({ text, calls }: ModelReply, names: ReadonlyMap<string, string>): readonly ChatCall[] {
    const { mask } = this.#parts.connection;
    const entry = this.#beginReply();
    entry.text = shorten(mask(text), MAX_REPLY);
    entry.calls = calls.slice(0, MAX_CALLS_OF_REPLY).map((one) => this.#newCall(one, names));
    this.#chars += entry.text.length + entry.calls.reduce((sum, { shown }) => sum + shown.length, 0);
    this.#endReply();
    this.#changed();
    return entry.calls;
  }

  #newCall({ name, args, written }: RequestedCall, names: ReadonlyMap<string, string>): ChatCall {
    const { mask } = this.#parts.connection;
    const tool = names.get(name);
    const isLong = written.length > MAX_ARGS;
    const call = new ChatCall(String(this.#newId()), {
      tool: tool ?? name,
      args: isLong ? undefined : args,
      written: shorten(written, MAX_WRITTEN),
    });
    const digest = this.#digestOf(call);
    if (tool === undefined) call.refuse('The server does not offer this tool.');
    else if (isLong) call.refuse(`The arguments have more than ${MAX_ARGS} characters.`);
    else if (args === undefined) call.refuse('The arguments are not a JSON object.');
    else if (mask(call.shown) !== call.shown)
      call.refuse('The arguments have a secret of the inspector in them.');
    else if (this.#mayCall(tool)) call.digest = digest;
    else call.ask(digest);
    return call;
  }

  /** Whether a tool is called without asking. That a tool only reads is what its server says. */
  #mayCall(tool: string): boolean {
    const { trusts } = this.#parts.model;
    return (
      this.#allowed.has(this.#definitionDigest(tool)) || (trusts && this.#viewOf(tool)?.isReadOnly === true)
    );
  }

  #viewOf(tool: string): ToolView | undefined {
    return this.#parts.connection.catalog.tools.find((one) => one.tool.name === tool);
  }

  #definitionDigest(tool: string): string {
    return digestOf(this.#viewOf(tool)?.tool);
  }

  /** The digest of everything that a user agrees to; empty if there is no such tool. */
  #digestOf({ tool, args }: { readonly tool: string; readonly args: JsonObject }): string {
    const definition = this.#viewOf(tool)?.tool;
    return definition === undefined ? '' : digestOf([this.#parts.connection.id, tool, args, definition]);
  }

  /** The entry of the reply that arrives. A new attempt begins it anew. */
  #beginReply(): ReplyEntry {
    this.#state = 'model';
    const last = this.#entries.at(-1);
    if (last?.kind === 'reply' && last.isPartial) {
      last.text = '';
      return last;
    }
    const entry: ReplyEntry = { id: this.#newId(), kind: 'reply', text: '', isPartial: true, calls: [] };
    this.#entries.push(entry);
    this.#changed();
    return entry;
  }

  #takeWords(words: string): void {
    const entry = this.#entries.at(-1);
    if (entry?.kind !== 'reply' || !entry.isPartial || entry.text.length > MAX_REPLY) return;
    entry.text += words;
    if (Date.now() - this.#shownAt >= WORDS_MS) this.#changed();
  }

  /** Nothing more comes of the reply. One that has nothing is not kept. */
  #endReply(): void {
    const last = this.#entries.at(-1);
    if (last?.kind !== 'reply') return;
    last.isPartial = false;
    if (last.text === '' && last.calls.length === 0) this.#entries.pop();
  }

  #entryView(entry: Entry): ChatEntry {
    if (entry.kind !== 'reply') return entry;
    const { id, kind, text, isPartial, calls } = entry;
    const { mask } = this.#parts.connection;
    const views = calls.map((call) => ({ ...call.view, args: mask(call.shown) }));
    return { id, kind, text: mask(text), isPartial, calls: views };
  }

  #add(entry: { readonly kind: 'ask' | 'note'; readonly text: string }): void {
    this.#endReply();
    this.#chars += entry.text.length;
    this.#entries.push({ id: this.#newId(), ...entry });
    this.#changed();
  }

  #calls(): readonly ChatCall[] {
    return this.#entries.flatMap((entry) => (entry.kind === 'reply' ? entry.calls : []));
  }

  #newId(): number {
    return ++this.#lastId;
  }

  #changed(): void {
    this.#shownAt = Date.now();
    this.#parts.onChange();
  }
}
