// Reads the input of commands. The page may send anything, so each field is checked.

import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import { quote } from '../../protocol/encoding/shorten.js';
import { McpError } from '../../protocol/errors.js';

const MAX_TEXT = 100_000;

/** The fields of a command's input. Each method throws an error that names the field. */
export class CommandInput {
  readonly #command: string;
  readonly #fields: JsonObject;

  constructor(command: string, fields: JsonObject) {
    this.#command = command;
    this.#fields = fields;
  }

  text(name: string, limit: number = MAX_TEXT): string {
    const value = this.#fields[name];
    if (typeof value !== 'string' || value === '') throw this.#wrong(name, 'a string');
    if (value.length > limit) throw this.#wrong(name, `a string of at most ${limit} characters`);
    return value;
  }

  /** A string that may be empty. */
  words(name: string): string {
    const value = this.#fields[name];
    if (typeof value !== 'string' || value.length > MAX_TEXT) throw this.#wrong(name, 'a string');
    return value;
  }

  textIfGiven(name: string): string | undefined {
    return this.#fields[name] === undefined || this.#fields[name] === null ? undefined : this.text(name);
  }

  number(name: string): number {
    const value = this.#fields[name];
    if (typeof value !== 'number' || !Number.isSafeInteger(value)) throw this.#wrong(name, 'an integer');
    return value;
  }

  numberIfGiven(name: string): number | undefined {
    return this.#fields[name] === undefined ? undefined : this.number(name);
  }

  flag(name: string): boolean {
    const value = this.#fields[name];
    if (value !== undefined && typeof value !== 'boolean') throw this.#wrong(name, 'true or false');
    return value === true;
  }

  object(name: string): JsonObject {
    const value = this.#fields[name];
    if (!isObject(value)) throw this.#wrong(name, 'an object');
    return value;
  }

  objectIfGiven(name: string): JsonObject | undefined {
    return this.#fields[name] === undefined ? undefined : this.object(name);
  }

  /** An object whose values are strings. */
  strings(name: string): Readonly<Record<string, string>> {
    const value = this.object(name);
    for (const inner of Object.values(value))
      if (typeof inner !== 'string') throw this.#wrong(name, 'an object of strings');
    return value as Record<string, string>;
  }

  stringsIfGiven(name: string): Readonly<Record<string, string>> | undefined {
    return this.#fields[name] === undefined ? undefined : this.strings(name);
  }

  list(name: string, limit: number): readonly unknown[] {
    const value = this.#fields[name];
    if (!Array.isArray(value) || value.length > limit)
      throw this.#wrong(name, `an array of at most ${limit} entries`);
    return value;
  }

  texts(name: string, limit = 1000): readonly string[] {
    const values = this.list(name, limit);
    if (!values.every((value) => typeof value === 'string')) throw this.#wrong(name, 'an array of strings');
    return values as readonly string[];
  }

  textsIfGiven(name: string): readonly string[] | undefined {
    return this.#fields[name] === undefined ? undefined : this.texts(name);
  }

  #wrong(name: string, expected: string): McpError {
    const value = this.#fields[name];
    const got = value === undefined ? 'it is missing' : `it is ${quote(JSON.stringify(value) ?? '', 80)}`;
    return new McpError('invalid_params', `${this.#command}: "${name}" must be ${expected}, but ${got}.`);
  }
}
