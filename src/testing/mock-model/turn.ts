// The turns of a script: the replies of a model that a test makes up.

import type { JsonObject } from '../../jsonrpc/message.js';

/** A call of a tool in a reply of a model. */
export interface TurnCall {
  /** The name of the tool, as the model says it: also one that was not offered. */
  readonly name: string;
  /** The arguments. A string is sent as it is, so that it can be broken JSON. Default: none. */
  readonly args?: JsonObject | string;
  /** The id of the call; null leaves it out, as some servers do. Default: one that is new each time. */
  readonly id?: string | null;
}

/** A reply of a model. */
export interface AnswerTurn {
  /** The text. Default: none. */
  readonly say?: string;
  /** The thoughts before the text. Anthropic's API sends them with a signature; the others leave them out. Default: none. */
  readonly thinking?: string;
  /** The calls of tools; several are parallel. Default: none. */
  readonly calls?: readonly TurnCall[];
  /** The reason why the model stopped, in the words of the API. Default: the one that fits. */
  readonly stop?: string;
  /** The tokens that the API reports; false leaves them out. Default: an estimate. */
  readonly usage?:
    | {
        /** All tokens of the request, also the cached ones. */
        readonly input?: number;
        /** The cached tokens. */
        readonly cached?: number;
        /** The tokens of the reply. */
        readonly output?: number;
      }
    | false;
  /**
   * How a reply ends that does not end well: the connection breaks, nothing more is sent, or a stream reports an error. A reply that is not
   * streamed breaks or waits in its middle. Default: it ends well.
   */
  readonly ends?: 'cut' | 'hang' | 'error';
  /** The number of events before a stream ends so. Default: 2. */
  readonly endsAfter?: number;
  /** The pause before each event of a stream, in milliseconds. Default: 0. */
  readonly pauseMs?: number;
}

/** A reply with an HTTP status that is not 200. */
export interface FailureTurn {
  /** The status. */
  readonly fail: number;
  /** The type of the error, or its code in the APIs of OpenAI. Default: the one that fits. */
  readonly kind?: string;
  /** The message. Default: one that fits. */
  readonly message?: string;
  /** The time to wait, as the headers `retry-after` and `retry-after-ms` say it. Default: no such header. */
  readonly retryAfterMs?: number;
  /** More headers, such as the `location` of a redirect. Default: none. */
  readonly headers?: Readonly<Record<string, string>>;
  /** A body in place of the JSON of the API, such as the HTML of a proxy. */
  readonly body?: string;
}

/** One turn of a model: its text, a whole reply, a failure, or a silence that only the client can end. */
export type ModelTurn =
  | string
  | AnswerTurn
  | FailureTurn
  | {
      /** Whether nothing is ever sent. */
      readonly hang: true;
    };

/** A reply, with everything that an API needs to print it. */
export interface PrintedAnswer {
  readonly say: string;
  readonly thinking: string;
  readonly calls: readonly PrintedCall[];
  readonly stop: string | undefined;
  readonly usage: PrintedUsage | undefined;
  /** The number of the reply: ids are made of it, so that they are the same in every run. */
  readonly number: number;
  /** The model that the request asked for. */
  readonly model: string;
}

export interface PrintedCall {
  readonly name: string;
  /** The arguments as JSON, or what the script has in its place. */
  readonly json: string;
  readonly id: string | undefined;
}

interface PrintedUsage {
  /** All tokens of the request, also the cached ones. */
  readonly input: number;
  readonly cached: number;
  readonly output: number;
}

interface AnswerFacts {
  readonly number: number;
  readonly body: JsonObject;
}

/** Fills in everything that a turn leaves out. */
export function printedAnswer(
  { say = '', thinking = '', calls = [], stop, usage = {} }: AnswerTurn,
  { number, body }: AnswerFacts,
): PrintedAnswer {
  const printed = calls.map(({ name, args = {}, id }, at) => ({
    name,
    json: typeof args === 'string' ? args : JSON.stringify(args),
    id: id === null ? undefined : (id ?? `call_${number}_${at + 1}`),
  }));
  const words = say + thinking + printed.map(({ name, json }) => name + json).join('');
  const { input = estimate(JSON.stringify(body)), cached = 0, output = estimate(words) } = usage || {};
  const model = String(body['model']);
  return {
    ...{ say, thinking, calls: printed, stop, number, model },
    usage: usage === false ? undefined : { input, cached, output },
  };
}

function estimate(text: string): number {
  return Math.max(1, Math.ceil(text.length / 4));
}

const PIECE = 9;

/** Text in the pieces that a stream sends it in; none for an empty string. */
export function piecesOf(text: string): readonly string[] {
  const characters = [...text];
  const pieces: string[] = [];
  for (let at = 0; at < characters.length; at += PIECE)
    pieces.push(characters.slice(at, at + PIECE).join(''));
  return pieces;
}
