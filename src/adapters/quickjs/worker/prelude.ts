// The code that runs in a realm before the program: the tools, the console, and everything that would not be the same in every run.

/** The calls without a result in between that know their line. */
const MAX_MARKS = 1000;

/**
 * A function of the host's functions, which returns the function that starts the program and the one that settles a call. Everything that it
 * uses later is kept before the program runs: a program that replaces `JSON.stringify` or `Promise.prototype.then` only fools itself.
 */
export const PRELUDE: string = `((host, seed) => {
  const { send, mark, print, done, fail, touch } = host;
  const { stringify, parse } = JSON;
  const { apply, defineProperty } = Reflect;
  const { imul } = Math;
  const { freeze } = Object;
  const P = Promise, then = P.prototype.then, E = Error, T = TypeError, Px = Proxy, str = String, slice = str.prototype.slice;
  const cut = (text, length) => apply(slice, text, [0, length]);
  for (const name of ['WeakRef', 'FinalizationRegistry', 'SharedArrayBuffer', 'Atomics', 'performance', 'gc', 'navigator'])
    delete globalThis[name];
  let state = seed;
  defineProperty(Math, 'random', { value: () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = imul(state ^ (state >>> 15), 1 | state);
    t = (t + imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  } });
  defineProperty(E, 'prepareStackTrace', { value: undefined, writable: false, configurable: false });
  class ToolError extends E {
    constructor(message, code) {
      super(message);
      defineProperty(this, 'name', { value: 'ToolError' });
      defineProperty(this, 'code', { value: code, enumerable: true });
    }
  }
  const waiting = { __proto__: null };
  let marks = 0;
  let over = false;
  const never = new P(() => {});
  const call = (name, args) => over ? never : new P((ok, no) => {
    let text;
    try {
      text = args === undefined ? '{}' : stringify(args, refuse);
    } catch (error) {
      throw new T(name + ': the arguments are not JSON: ' + error.message);
    }
    if (text === undefined || text[0] !== '{')
      throw new T(name + ' expects one object with its arguments, not ' + (text === undefined ? typeof args : cut(text, 60)));
    let seq;
    try {
      seq = send(name, text);
    } catch (error) {
      // Its stack has the files of the process.
      throw new T(error.message);
    }
    // The engine interrupts the program soon. Until then, a loop must not do more than turn.
    if (seq === 0) { over = true; return; }
    // A loop that makes calls without waiting for one has to end soon, and nobody looks at the lines of so many.
    const at = marks++ < ${MAX_MARKS} ? new E().stack : '';
    if (at !== '') mark(cut(at, 4000));
    waiting[seq] = { __proto__: null, ok, no, at };
  });
  const refuse = (key, value) => {
    if (typeof value === 'bigint') throw new T('"' + str(key) + '" is a BigInt. Convert it to a number or a string.');
    if (value instanceof Map || value instanceof Set) throw new T('"' + str(key) + '" is a Map or a Set. Convert it to an object or an array.');
    return value;
  };
  const Map = globalThis.Map, Set = globalThis.Set;
  const no = () => false;
  const tools = new Px({ __proto__: null }, {
    __proto__: null,
    get: (_, name) => typeof name !== 'string' || name === 'then' || name === 'toJSON' ? undefined : (args) => call(name, args),
    has: (_, name) => typeof name === 'string',
    set: no, defineProperty: no, deleteProperty: no, setPrototypeOf: no, preventExtensions: no,
  });
  const fixed = { writable: false, configurable: false, enumerable: true };
  defineProperty(globalThis, 'tools', { ...fixed, value: tools });
  defineProperty(globalThis, 'ToolError', { ...fixed, value: ToolError });
  const show = (value) => {
    if (typeof value === 'string') return value;
    try {
      return stringify(value) ?? str(value);
    } catch {
      return '[not JSON]';
    }
  };
  const log = (...values) => {
    let line = '';
    for (let at = 0; at < values.length; at++) line += (at === 0 ? '' : ' ') + show(values[at]);
    print(line);
  };
  defineProperty(globalThis, 'console', { ...fixed, value: freeze({ __proto__: null, log, info: log, warn: log, error: log, debug: log }) });
  const failure = (error) => {
    let name = 'Error', message = 'an error that cannot be read', stack = '';
    try {
      const hasFields = (typeof error === 'object' && error !== null) || typeof error === 'function';
      message = cut(hasFields ? str(error.message ?? show(error)) : show(error), 2000);
      name = hasFields ? cut(str(error.name ?? 'Error'), 100) : 'Error';
      stack = hasFields ? cut(str(error.stack ?? ''), 4000) : '';
    } catch {}
    fail(name, message, stack);
  };
  const returned = (value) => {
    let text;
    try {
      text = value === undefined ? 'null' : stringify(value, refuse) ?? 'null';
    } catch (error) {
      return failure(new T('The returned value is not JSON: ' + error.message));
    }
    done(text);
  };
  const start = (main) => {
    let promise;
    try {
      promise = main();
    } catch (error) {
      return failure(error);
    }
    apply(then, promise, [returned, failure]);
  };
  const touched = () => {
    touch();
    throw new E('The result of a call that was not made was used.');
  };
  const unknown = () => new Px({}, {
    __proto__: null,
    get: (_, name) => (name === 'then' ? undefined : touched()),
    has: touched, ownKeys: touched, getPrototypeOf: touched, getOwnPropertyDescriptor: touched, set: touched,
    defineProperty: touched, deleteProperty: touched, setPrototypeOf: touched, isExtensible: touched, preventExtensions: touched,
  });
  const settle = (seq, kind, text, code) => {
    const entry = waiting[seq];
    delete waiting[seq];
    marks = 0;
    if (entry === undefined) return;
    if (kind === 'value') return entry.ok(parse(text));
    if (kind === 'unknown') return entry.ok(unknown());
    const error = new ToolError(text, code);
    // The error is made when the call has ended. The line that the model looks for is that of the call.
    defineProperty(error, 'stack', { value: entry.at, writable: true, configurable: true });
    entry.no(error);
  };
  return freeze({ __proto__: null, start, settle });
})`;

/** A number that changes whenever a program could notice a change of the prelude or of a limit. It is part of the engine's id. */
export const PRELUDE_VERSION = 5;
