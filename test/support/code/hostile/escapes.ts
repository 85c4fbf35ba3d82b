// Programs that try to reach the process: by its globals, by constructors, by what they get from tools, and by what the engine uses.

/** Names that exist in a process or in a browser, and must not exist for a program. */
const HOST_NAMES =
  `process require module exports __filename __dirname fetch WebAssembly Worker Buffer setTimeout setInterval
  setImmediate clearTimeout postMessage parentPort workerData importScripts Deno Bun XMLHttpRequest std os bjson scriptArgs
  structuredClone SharedArrayBuffer Atomics WeakRef FinalizationRegistry performance navigator gc crypto URL
  MessageChannel BroadcastChannel global self window document localStorage indexedDB`.split(/\s+/);

/** `reach` returns the names of the host that an object has. */
const REACH = `const reach = async (get) => {
  let found;
  try { found = await get(); } catch (error) { return ['threw ' + error?.name]; }
  return ${JSON.stringify(HOST_NAMES)}.filter((name) => {
    try { return found !== null && found !== undefined && found[name] !== undefined && name !== 'exports'; } catch { return false; }
  });
};
`;

/** The program that evaluates an expression, and returns the names of the host that it leads to. */
export function reaching(expression: string): string {
  return `${REACH}return reach(async () => (${expression}));`;
}

const THIS = `constructor.constructor('return this')()`;

/** Expressions for an object from which the host might be reached. */
export const escapes: readonly string[] = [
  // Globals.
  'globalThis',
  'this',
  '(function () { return this; })()',
  '(0, eval)("this")',
  'eval("this")',
  `Function('return this')()`,
  `new Function('return this')()`,
  `Reflect.construct(Function, ['return this'])()`,
  `Function.prototype.call.call(Function, null, 'return this')()`,
  `Function.apply(null, ['return this'])()`,
  `Object.getOwnPropertyDescriptors(globalThis).globalThis.value`,
  `Object.fromEntries(Object.getOwnPropertyNames(globalThis).map((name) => [name, globalThis[name]]))`,
  // Constructors of values.
  `(() => {}).constructor('return this')()`,
  `(function* () {}).constructor('yield this')().next().value`,
  `(async () => {}).constructor('return this')()`,
  `(async function* () {}).constructor('yield this')().next().then((it) => it.value)`,
  `(class {}).constructor('return this')()`,
  `({ a() {} }).a.constructor('return this')()`,
  `Object.getOwnPropertyDescriptor({ get a() { return 1; } }, 'a').get.constructor('return this')()`,
  `(function () {}).bind().constructor('return this')()`,
  ...[
    '({})',
    '[]',
    `''`,
    '(1)',
    'true',
    `Symbol('x')`,
    '1n',
    '/x/',
    'new Date()',
    'new Error()',
    'new Map()',
    'new WeakMap()',
    'Promise.resolve()',
    'new Proxy({}, {})',
    'new ArrayBuffer(1)',
    'new Uint8Array(1)',
    '(function () { return arguments; })()',
    'JSON',
    'Math',
    'Reflect',
    '[].values()',
    '(function* () {})()',
  ].map((value) => `${value}.${THIS}`),
  // The tools, the console, and results.
  `tools.${THIS}`,
  `tools.x.constructor('return this')()`,
  `Object.getPrototypeOf(tools.x).constructor('return this')()`,
  'Object.getPrototypeOf(tools)',
  'tools.__proto__',
  `Object.getPrototypeOf(tools.x({}).catch(() => 0)).${THIS}`,
  `console.log.constructor('return this')()`,
  `console.${THIS}`,
  `ToolError.constructor('return this')()`,
  `new ToolError('a', 'b').${THIS}`,
  `Object.getPrototypeOf(ToolError).constructor('return this')()`,
  `(await tools.echo({})).${THIS}`,
  `(await tools.list({}))[0].${THIS}`,
  `(await tools.fail({}).catch((error) => error)).${THIS}`,
  `(await tools.echo([]).catch((error) => error)).${THIS}`,
  `(await tools.echo({ t: 'x'.repeat(2e6) }).catch((error) => error)).${THIS}`,
  `(await tools.echo({ n: 1n }).catch((error) => error)).${THIS}`,
  `(await tools['x'.repeat(9000)]({}).catch((error) => error)).${THIS}`,
  // Callers and stack frames.
  `Function('return arguments.callee.caller')()`,
  `Function('return (function f() { return f.caller; })()')()`,
  `[1].map(Function('return arguments.callee.caller'))[0]`,
  `(Error.prepareStackTrace = (_, frames) => frames, new Error().stack[0].getThis())`,
  `(Error.prepareStackTrace = (_, frames) => frames[0].getFunction(), new Error().stack)`,
  `Object.defineProperty(Error, 'prepareStackTrace', { value: (_, frames) => frames })`,
  `(() => { const it = {}; Error.captureStackTrace(it); return it.stack.${THIS}; })()`,
  `tools.echo({}).then(Function('return arguments.callee.caller'))`,
  // Modules.
  `import('node:fs')`,
  `import('node:process')`,
  `import('fs')`,
  `import('std')`,
  `import('os')`,
  `import('qjs:std')`,
  `import('./program.ts')`,
  `import('data:text/javascript,export default globalThis')`,
  `import('/proc/self/environ')`,
  `import('node:worker_threads', { with: {} })`,
  `require('node:process')`,
  `process.mainModule.require('fs')`,
  // Parts that the prelude uses.
  `(() => { let it; Array.prototype.push = function () { it = this; }; tools.x({}).catch(() => 0); return it; })()`,
  `(() => { let it; JSON.stringify = (...a) => { it = a; return '{}'; }; tools.x({}).catch(() => 0); return it; })()`,
  `(() => { let it; Reflect.apply = (...a) => { it = a; }; console.log(1); return it; })()`,
  `(() => { let it; Object.defineProperty(Object.prototype, '1', { set(value) { it = this; }, configurable: true }); tools.x({}).catch(() => 0); return it; })()`,
  `(() => { const all = []; const then = Promise.prototype.then; Promise.prototype.then = function (...a) { all.push(...a); return then.apply(this, a); }; tools.x({}).catch(() => 0); return all[0]; })()`,
  `(() => { let it; String.prototype.slice = function () { it = this; return 'x'; }; console.log('a'); return it; })()`,
  `(() => { let it; globalThis.Promise = class extends Promise { constructor(f) { super(f); it = f; } }; tools.x({}).catch(() => 0); return it; })()`,
  `(() => { let it; Object.defineProperty(Object.prototype, 'get', { get() { it = this; }, configurable: true }); Object.defineProperty({}, 'a', {}); return it; })()`,
  `(() => { let it; Proxy = class { constructor(...a) { it = a; } }; tools.x; return it; })()`,
  `Reflect.get(tools, 'x', globalThis)`,
  `Object.create(tools).x`,
  `class extends Object { static { this.it = tools; } }.it.x`,
  // Values for the host that lead back.
  `(() => { let it; console.log({ toJSON() { it = this; return this.constructor; } }); return it; })()`,
  `(() => { let it; console.log({ [Symbol.toPrimitive]() { it = Error().stack; return 'x'; } }); return it; })()`,
  `(() => { let it; tools.echo(new Proxy({}, { ownKeys() { it = Error().stack; return []; } })); return it; })()`,
  `(() => { let it; tools.echo({ get a() { it = Function('return this')(); return 1; } }); return it; })()`,
  `(() => { const it = {}; it[Symbol.species] = it; return it.${THIS}; })()`,
  `new Function('a = this', 'return a')()`,
  `Function('}, globalThis.leak = this, function () {') ?? globalThis.leak`,
];

/** Sources that try to leave the function that they are the body of. All are mistakes, and nothing of them runs. */
export const wrappers: readonly string[] = [
  `}); globalThis.out = 1; (async () => {`,
  `} globalThis.out = 1; async function other() {`,
  `})(); (() => {`,
  `}\n}); (async () => {{`,
  `}, 1); (() => {`,
  `return 1; } function* out() { yield 1;`,
  '`}); (async () => {',
  `/* }); (async () => {`,
  `"\\`,
  `await 1; }); (async () => { await 2;`,
  `{`,
  `}`,
  `)`,
  `import fs from 'node:fs'; return fs;`,
  `export const out = 1;`,
  `import.meta.url`,
  `enum Out { A }`,
  `namespace Out { export const a = 1; }`,
  `import out = require('node:fs'); return out;`,
  `class A { constructor(private out: string) {} }`,
  `#!/usr/bin/node\nreturn 1`,
  `yield 1`,
  `break;`,
  `with (tools) { x({}) }`,
  `return 010;`,
  `delete tools; let tools;`,
  `const await = 1;`,
];
