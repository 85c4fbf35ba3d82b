// Answers the questions of a server: with the answers that were given, or with those of the person at the terminal.

import { settlesWithin } from '../../async/deadline.js';
import { Turns } from '../../async/turns.js';
import type {
  ElicitForm,
  ElicitFormResult,
  ElicitUrl,
  Handlers,
  QuestionContext,
} from '../../client/model/handlers.js';
import type { JsonObject } from '../../jsonrpc/message.js';
import { clean, cleanLine } from '../../tooling/clean.js';
import type { Options, Typed } from '../command/definition.js';
import { CommandError, usageError } from '../command/failures.js';
import type { Output } from '../terminal/output.js';
import { linesOf, type Person, type PersonLines } from '../terminal/person.js';
import { widthOf } from '../terminal/text-width.js';
import { wrapLine } from '../terminal/wrap.js';
import { type FormField, fieldsOf, questionOf, readField, readYesOrNo } from './form-fields.js';
import { asks, type TerminalQuestion, unansweredForm, unansweredUrl } from './unanswered.js';

/** A server in a session may ask as often as it likes; given answers are not sent more often than this. */
const MAX_GIVEN_FORMS = 20;
/** A program that finds no browser says so within this time. */
const OPENING_MS = 1000;
/** The columns behind a question in which an answer is typed. */
const LEAST_ROOM = 12;

export const ANSWER_OPTIONS: Options = {
  answer: {
    type: 'string',
    multiple: true,
    value: 'name=value',
    help: 'an answer to a form, given before; key.name=value for the question with that key',
  },
};

export class Asker {
  readonly handlers: Handlers = {
    elicit: {
      form: (form, context) => this.#inTurn(() => this.#form(form, context)),
      url: (page, context) => this.#inTurn(() => this.#page(page, context)),
    },
  };
  readonly #input: Typed;
  readonly #given: TypedAnswers;
  readonly #stopping = new AbortController();
  #asking: TerminalQuestion = { subject: 'The server', words: [], process: undefined };
  readonly #turns = new Turns();
  /** The page that is being opened. Some systems end it only with the browser. */
  #opening: Promise<void> = Promise.resolve();
  #failure: CommandError | undefined;
  #givenForms = 0;
  #hasSaidKeys = false;

  constructor(input: Typed) {
    this.#input = input;
    this.#given = new TypedAnswers(input.texts('answer'));
  }

  /**
   * Runs a call whose questions are answered here. If one cannot be answered, the call is cancelled, and the failure is that of the
   * question.
   */
  async during<T>(asking: TerminalQuestion, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    this.#asking = asking;
    try {
      const result = await work(AbortSignal.any([this.#input.signal, this.#stopping.signal]));
      if (this.#failure) throw this.#failure;
      // The call may be over before it is known that there is no browser.
      await settlesWithin(this.#opening, OPENING_MS);
      for (const name of this.#given.unused())
        this.#input.out.note(`No question has a field ${JSON.stringify(name)}.`);
      return result;
    } catch (error) {
      throw this.#failure ?? error;
    }
  }

  /** The content that the given answers make for a form; undefined if they leave out a field that is required. */
  contentFor(key: string | undefined, schema: JsonObject): JsonObject | undefined {
    const fields = fieldsOf(schema);
    const { content, problem } = this.#givenContent(key, fields);
    if (problem !== undefined) throw new CommandError('unanswered', problem);
    return isComplete(content, fields) ? (Object.fromEntries(content) as JsonObject) : undefined;
  }

  // One question at a time has the terminal.
  #inTurn<T>(ask: () => Promise<T>): Promise<T> {
    return this.#turns.take(async () => {
      try {
        return await this.#input.out.quietly(ask);
      } catch (error) {
        // A server of an earlier revision gets the error and continues without an answer; the command must end.
        if (error instanceof CommandError) {
          this.#failure ??= error;
          this.#stopping.abort(error);
        }
        throw error;
      }
    });
  }

  async #form(form: ElicitForm, context: QuestionContext): Promise<ElicitFormResult> {
    const { message, schema } = form;
    const { key, rejection } = context;
    const fields = fieldsOf(schema);
    const isAgain = rejection !== undefined || ++this.#givenForms > MAX_GIVEN_FORMS;
    const { content, problem = rejection } = isAgain
      ? { content: new Map<string, unknown>() }
      : this.#givenContent(key, fields);
    if (problem === undefined && isComplete(content, fields))
      return { action: 'accept', content: Object.fromEntries(content) as JsonObject };
    const person = this.#input.person();
    if (!person.isPresent) {
      const given = this.#given.typed;
      throw unansweredForm(this.#asking, { key, message, fields, given, problem });
    }
    this.#say(message);
    this.#sayKeys();
    if (problem !== undefined) noteBelow(problem, this.#input.out);
    const missing = fields.filter(({ name }) => !content.has(name));
    return this.#fill(missing, content, this.#signal(context), person);
  }

  #givenContent(
    key: string | undefined,
    fields: readonly FormField[],
  ): { content: Map<string, unknown>; problem?: string } {
    const content = new Map<string, unknown>();
    for (const field of fields) {
      const text = this.#given.for(key, field);
      if (text === undefined) continue;
      const read = readField(field, text);
      if ('problem' in read) return { content, problem: `--answer ${field.name}: ${read.problem}` };
      content.set(field.name, read.value);
    }
    return { content };
  }

  async #fill(
    fields: readonly FormField[],
    content: Map<string, unknown>,
    signal: AbortSignal,
    person: Person,
  ): Promise<ElicitFormResult> {
    const reader = linesOf(person);
    try {
      if (fields.length === 0 && content.size === 0)
        return (await this.#agrees('  agree?', reader, signal))
          ? { action: 'accept', content: {} }
          : { action: 'decline' };
      for (const field of fields) {
        const value = await askField(field, { reader, signal, out: this.#input.out });
        if (value === DECLINED) return { action: 'decline' };
        if (value !== LEFT_OUT) content.set(field.name, value);
      }
      return { action: 'accept', content: Object.fromEntries(content) as JsonObject };
    } finally {
      reader.close();
    }
  }

  async #page(
    { message, url }: ElicitUrl,
    context: QuestionContext,
  ): Promise<{ action: 'accept' | 'decline' }> {
    const address = new URL(url);
    const person = this.#input.person();
    if (!person.isPresent) throw unansweredUrl(this.#asking, message, address.href);
    const { out } = this.#input;
    this.#say(message);
    out.noteLine(`  ${address.href}`);
    this.#sayKeys();
    const reader = linesOf(person);
    try {
      const question = `  open ${address.host} in the browser?`;
      if (!(await this.#agrees(question, reader, this.#signal(context)))) return { action: 'decline' };
    } finally {
      reader.close();
    }
    this.#opening = person
      .openPage(address.href)
      .catch(() => out.note('No browser could be opened. Open the address yourself.'));
    return { action: 'accept' };
  }

  async #agrees(question: string, reader: PersonLines, signal: AbortSignal): Promise<boolean> {
    for (;;) {
      const line = await reader.line(`${question}  y/n > `, signal);
      const read = line === undefined ? { value: false } : readYesOrNo(line.trim());
      if ('value' in read) return read.value === true;
      noteBelow(read.problem, this.#input.out);
    }
  }

  /** Writes the question. Only its first line begins at the edge, so that no words of a server look like a prompt. */
  #say(message: string): void {
    const { out } = this.#input;
    out.redraw('');
    const lines = clean(asks(this.#asking, message)).split('\n');
    out.styledNote(lines.map((line) => wrapLine(line, out.noteWidth, '    ')).join('\n'));
  }

  /** Says below the first question how to get out of it. */
  #sayKeys(): void {
    if (this.#hasSaidKeys) return;
    this.#hasSaidKeys = true;
    const { out } = this.#input;
    const { interrupting = 'cancels the call' } = this.#asking;
    out.styledNote(out.noteStyle('dim', `  Ctrl+D declines, Ctrl+C ${interrupting}.`));
  }

  #signal({ signal }: QuestionContext): AbortSignal {
    return AbortSignal.any([signal, this.#input.signal]);
  }
}

/** Where a field is asked for. */
export interface AskingPlace {
  readonly reader: PersonLines;
  readonly signal: AbortSignal;
  readonly out: Output;
}

/** Asks for one field until its value fits. */
export async function askField(field: FormField, { reader, signal, out }: AskingPlace): Promise<unknown> {
  const { shape, item, isRequired, jsonType } = field;
  const { description } = shape.schema;
  if (typeof description === 'string') noteBelow(cleanLine(description, 300), out);
  if (jsonType !== undefined) noteBelow(cleanLine(jsonType, 1000), out);
  const { name, taken } = questionOf(field);
  const whole = `  ${name}  ${taken} > `;
  // A line that is broken at the edge of the terminal is hard to type behind.
  const isLong = widthOf(whole) + LEAST_ROOM > out.noteWidth;
  if (isLong) noteBelow(taken, out);
  const asked = isLong ? `  ${name} > ` : whole;
  for (;;) {
    const line = await reader.line(asked, signal);
    if (line === undefined) return DECLINED;
    const isEmpty = line.trim() === '';
    if (isEmpty && !isRequired) return LEFT_OUT;
    const read = isEmpty && !item ? { problem: 'a value is required' } : readField(field, line);
    if ('value' in read) return read.value;
    noteBelow(read.problem, out);
  }
}

/** Writes a line that belongs to a question. */
function noteBelow(text: string, out: Output): void {
  out.styledNote(wrapLine(`  ${clean(text)}`, out.noteWidth, '  '));
}

/** The person pressed Ctrl+D. */
export const DECLINED: unique symbol = Symbol('declined');
/** The person pressed Enter at a field that need not be filled in. */
export const LEFT_OUT: unique symbol = Symbol('left out');

function isComplete(content: ReadonlyMap<string, unknown>, fields: readonly FormField[]): boolean {
  return content.size > 0 && fields.every(({ name, isRequired }) => content.has(name) || !isRequired);
}

/** The answers that were typed before the questions came: `--answer name=value`. */
class TypedAnswers {
  /** The options as they were typed, to show them again. */
  readonly typed: readonly string[];
  readonly #texts: ReadonlyMap<string, string>;
  readonly #used = new Set<string>();

  constructor(typed: readonly string[]) {
    this.typed = typed;
    this.#texts = new Map(typed.map(splitAnswer));
  }

  /** The text for a field: `--answer key.name=value` of the question with this key, or `--answer name=value` of any. */
  for(key: string | undefined, { name }: FormField): string | undefined {
    const names = key === undefined ? [name] : [`${key}.${name}`, name];
    const found = names.find((one) => this.#texts.has(one));
    if (found === undefined) return undefined;
    this.#used.add(found);
    return this.#texts.get(found);
  }

  /** The names that no question had. */
  unused(): readonly string[] {
    return [...this.#texts.keys()].filter((name) => !this.#used.has(name));
  }
}

function splitAnswer(text: string): readonly [string, string] {
  const at = text.indexOf('=');
  if (at > 0) return [text.slice(0, at), text.slice(at + 1)];
  throw usageError(`--answer needs name=value or key.name=value, not ${JSON.stringify(text)}.`);
}
