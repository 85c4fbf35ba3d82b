// The entries of a catalog that a caller sees, as one value per set of entries.

import type { Auth } from '../../protocol/call.js';
import type { Caller } from '../../protocol/caller.js';
import type { CompiledAccess } from './access.js';
import { type Gate, isTrusted } from './gate.js';

/** An entry that may have rules. */
export interface Guarded {
  readonly access: CompiledAccess | undefined;
}

/** A value that is made from visible entries. */
interface View {
  /** The memory that the value takes, in characters. */
  readonly length: number;
}

/** The parts of `Views`. */
export interface ViewsParts<T, V> {
  readonly gate: Gate;
  /** Makes the view of these entries. */
  readonly make: (entries: readonly (readonly [name: string, entry: T])[]) => V;
}

const MAX_VIEWS = 64;
const MAX_LENGTH = 16 * 1024 * 1024;

/**
 * The views of a catalog as it is now: for each set of visible entries, one view that all callers with that set share. The number and
 * the memory of the views are limited; those that were not used for the longest time are made again.
 */
export class Views<T extends Guarded, V extends View> {
  readonly #entries: readonly (readonly [string, T])[];
  readonly #guarded: readonly CompiledAccess[];
  readonly #parts: ViewsParts<T, V>;
  /** The most recently used last. */
  readonly #views = new Map<string, V>();
  #length = 0;
  /** The keys of callers whose scopes cannot change, if scopes alone decide. */
  readonly #keys: WeakMap<Auth, string> | undefined;
  readonly #hasPolicy: boolean;

  constructor(entries: readonly (readonly [string, T])[], parts: ViewsParts<T, V>) {
    this.#entries = entries;
    this.#parts = parts;
    this.#guarded = entries.flatMap(([, { access }]) => access ?? []);
    this.#keys = this.#guarded.every(hasScopesAlone) ? new WeakMap() : undefined;
    this.#hasPolicy = this.#guarded.some(({ policy }) => policy !== undefined);
  }

  /** The view of the entries that a caller sees. Synchronous if every `allow` is. */
  of(caller: Caller): V | Promise<V> {
    const { auth } = caller;
    const known = auth && this.#keys?.get(auth);
    if (known !== undefined) return this.#view(known);
    if (isTrusted(caller) && !this.#hasPolicy) return this.#view(keyOf(this.#guarded.map(() => true)));
    const answers = this.#guarded.map((access) => this.#parts.gate.sees(caller, access));
    if (answers.some((answer) => answer instanceof Promise))
      return Promise.all(answers).then((settled) => this.#view(keyOf(settled)));
    const key = keyOf(answers as boolean[]);
    if (auth !== undefined && isConstant(auth)) this.#keys?.set(auth, key);
    return this.#view(key);
  }

  #view(key: string): V {
    const known = this.#views.get(key);
    const view = known ?? this.#parts.make(this.#visible(key));
    this.#views.delete(key);
    this.#views.set(key, view);
    if (known === undefined) {
      this.#length += view.length;
      this.#makeRoom();
    }
    return view;
  }

  #makeRoom(): void {
    for (const [key, { length }] of this.#views) {
      if (this.#views.size === 1 || (this.#views.size <= MAX_VIEWS && this.#length <= MAX_LENGTH)) return;
      this.#views.delete(key);
      this.#length -= length;
    }
  }

  #visible(key: string): readonly (readonly [string, T])[] {
    let at = 0;
    return this.#entries.filter(([, { access }]) => access === undefined || hasBit(key, at++));
  }
}

function hasScopesAlone({ allow, policy }: CompiledAccess): boolean {
  return allow.length === 0 && policy === undefined;
}

/** A program may keep the caller of a session and change its scopes. The providers of this package freeze theirs. */
function isConstant(auth: Auth): boolean {
  return Object.isFrozen(auth) && Object.isFrozen(auth.scopes);
}

const BITS = 16;

/** Packs answers into a string, 16 in a character. */
function keyOf(answers: readonly boolean[]): string {
  let key = '';
  for (let start = 0; start < answers.length; start += BITS) {
    let word = 0;
    for (let bit = 0; bit < BITS; bit++) if (answers[start + bit] === true) word |= 1 << bit;
    key += String.fromCharCode(word);
  }
  return key;
}

function hasBit(key: string, at: number): boolean {
  return ((key.charCodeAt(Math.floor(at / BITS)) >> (at % BITS)) & 1) === 1;
}
