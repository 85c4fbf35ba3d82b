// Where a command writes: the answer to stdout, everything else to stderr.

import { styleText } from 'node:util';
import { clean, cleanJson, cleanLine } from '../../tooling/clean.js';
import { pictureCodes } from './pictures.js';
import { cutToWidth } from './text-width.js';
import { WaitingLine } from './waiting-line.js';
import { wrapMessage } from './wrap.js';

const MAX_LINE = 100_000;
/** More than this is not read. */
const MAX_HELD = 200;

type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan';

/** The part of a stream that is needed, so that a test can pass its own. */
export interface Sink {
  readonly write: (text: string | Uint8Array) => unknown;
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
}

export interface OutputParts {
  readonly stdout: Sink;
  readonly stderr: Sink;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly isJson: boolean;
}

export class Output {
  /** Whether the command was asked for one JSON object. */
  readonly isJson: boolean;
  readonly #parts: OutputParts;
  readonly #waiting: WaitingLine;
  #indent: number | undefined = 2;
  /** Whether the last line of stderr is one that is drawn over. */
  #isDrawn = false;
  /** The notes that came while the terminal belonged to the person. */
  #held: string[] = [];

  constructor(parts: OutputParts) {
    this.#parts = parts;
    this.isJson = parts.isJson;
    this.#waiting = new WaitingLine((text) => this.#draw(text));
  }

  /** Whether a person reads stderr: then progress may be drawn over itself. */
  get isWatched(): boolean {
    return this.#parts.stderr.isTTY === true && !this.isJson;
  }

  /** Whether stdout is a file or a pipe, which take bytes of any kind. */
  get isPiped(): boolean {
    return this.#parts.stdout.isTTY !== true;
  }

  /**
   * Whether another program reads stdout while a terminal shows stderr. That program prints later than this one, so a note that is written
   * after the answer appears somewhere in the middle of it. A note about the whole answer is written before it.
   */
  get isPipedOnTerminal(): boolean {
    return this.isPiped && this.isWatched;
  }

  get columns(): number {
    // A terminal that does not know its width says 0.
    return this.#parts.stdout.columns || this.#parts.stderr.columns || 100;
  }

  /** The width at which lines are broken for a person. Other programs read them whole. */
  get width(): number {
    return this.isPiped ? Number.POSITIVE_INFINITY : this.columns;
  }

  /** The same for stderr. A terminal that does not say how wide it is breaks the lines itself. */
  get noteWidth(): number {
    return (this.isWatched && this.#parts.stderr.columns) || Number.POSITIVE_INFINITY;
  }

  /** Writes the answer, with a line break at its end. Nothing in it can control the terminal. Does nothing with `--json`. */
  value(text: string): void {
    if (!this.isJson) this.#answer(`${clean(text)}\n`);
  }

  /** Writes lines that were made with `style`, whose other parts are clean. */
  styled(text: string): void {
    if (!this.isJson) this.#answer(`${text}\n`);
  }

  /** Writes the answer as one JSON object, if the command was asked for that. */
  json(answer: object): void {
    if (this.isJson) this.#answer(`${cleanJson(JSON.stringify(answer, undefined, this.#indent))}\n`);
  }

  /** Writes one of many answers as JSON on a line of its own, if the command was asked for JSON. A later error is a line as well. */
  jsonLine(answer: object): void {
    this.#indent = undefined;
    this.json(answer);
  }

  /** Writes bytes as they are, if stdout is a file or a pipe. Does nothing with `--json`. */
  bytes(bytes: Uint8Array): void {
    if (this.isPiped && !this.isJson) this.#answer(bytes);
  }

  /** Shows a picture, if stdout is a terminal that can and the bytes are one. */
  picture(bytes: Uint8Array): boolean {
    const codes = this.isPiped || this.isJson ? undefined : pictureCodes(bytes, this.#parts.env);
    if (codes !== undefined) this.#answer(`${codes}\n`);
    return codes !== undefined;
  }

  /** Writes something beside the answer, in sentences. */
  note(text: string): void {
    this.styledNote(this.forPerson(clean(text)));
  }

  /** Writes what a server says beside the answer. While a person is asked something, it waits for the end of that. */
  aside(text: string): void {
    if (this.#waiting.isPaused) {
      this.#held = [...this.#held, text].slice(-MAX_HELD);
      return;
    }
    this.redraw('');
    this.note(text);
  }

  /** Writes a line beside the answer that a person may copy: it is not broken. */
  noteLine(text: string): void {
    this.styledNote(cleanLine(text, MAX_LINE));
  }

  /** Writes something beside the answer that was made with `noteStyle`, whose other parts are clean. */
  styledNote(text: string): void {
    this.#erase();
    this.#parts.stderr.write(`${text}\n`);
  }

  /** Writes a failure: in words to stderr, or as JSON to stdout. */
  failure(message: string, json: object): void {
    if (this.isJson) this.json(json);
    else this.styledNote(this.noteStyle('red', this.forPerson(message)));
  }

  /** A message as a person reads it on stderr: broken between words if the terminal says how wide it is. */
  forPerson(message: string): string {
    const width = this.noteWidth;
    return width === Number.POSITIVE_INFINITY ? message : wrapMessage(message, width);
  }

  /** Draws over the current line of stderr; with an empty text, clears it. Only for terminals. */
  redraw(text: string): void {
    // Progress would draw over what a person types.
    if (text !== '' && this.#waiting.isPaused) return;
    this.#waiting.isReplaced = text !== '';
    this.#draw(text);
  }

  /**
   * Says on stderr of a terminal what is waited for, as soon as that takes longer than a moment, and for how long already. Everything that is
   * written takes the place of that line. Without `what`, nothing is waited for any more.
   */
  wait(what?: string | (() => string)): void {
    if (this.isWatched) this.#waiting.show(what);
  }

  /** Runs something during which the terminal belongs to the person: no line is drawn over what is typed. */
  async quietly<T>(work: () => Promise<T>): Promise<T> {
    this.#waiting.pause();
    this.#erase();
    try {
      return await work();
    } finally {
      this.#waiting.resume();
      if (!this.#waiting.isPaused) for (const text of this.#held.splice(0)) this.note(text);
    }
  }

  /** Colours text of stderr if a terminal shows it. The text itself is cleaned. */
  noteStyle(style: Style, text: string): string {
    return this.#paint(style, clean(text), this.#parts.stderr);
  }

  /** Colours text of stdout if a terminal shows it. The text itself is cleaned. */
  style(style: Style, text: string): string {
    return this.#paint(style, clean(text), this.#parts.stdout);
  }

  #answer(written: string | Uint8Array): void {
    this.#erase();
    this.#parts.stdout.write(written);
  }

  #draw(text: string): void {
    if (!this.isWatched || (text === '' && !this.#isDrawn)) return;
    // A line that is longer than the terminal would be drawn on two.
    const width = (this.#parts.stderr.columns || this.columns) - 1;
    this.#isDrawn = text !== '';
    const room = Math.max(10, width);
    this.#parts.stderr.write(`\r\u001b[2K${text === '' ? '' : cutToWidth(cleanLine(text, room), room)}`);
  }

  #erase(): void {
    this.#draw('');
  }

  #paint(style: Style, text: string, sink: Sink): string {
    const { NO_COLOR, FORCE_COLOR, TERM } = this.#parts.env;
    const wanted = FORCE_COLOR !== undefined && FORCE_COLOR !== '0';
    if (!wanted && (sink.isTTY !== true || (NO_COLOR ?? '') !== '' || TERM === 'dumb')) return text;
    // Whether to colour is decided here, by the stream that is written to.
    return styleText(style, text, { validateStream: false });
  }
}
