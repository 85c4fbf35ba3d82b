// The part of `quickjs-wasi` that is used, as types: those of the package do not compile with the strictest settings.

/** A value inside of an instance. */
export interface Handle {
  readonly toString: () => string;
  readonly getProp: (name: string) => Handle;
}

/** An instance of the engine, with a memory of its own. */
export interface Instance {
  readonly undefined: Handle;
  readonly newNumber: (value: number) => Handle;
  readonly newString: (value: string) => Handle;
  readonly newObject: () => Handle;
  readonly newFunction: (name: string, run: (...values: Handle[]) => Handle) => Handle;
  readonly setProp: (object: Handle, name: string, value: Handle) => void;
  /** Runs code. Throws what it throws. */
  readonly evalCode: (code: string, file: string) => Handle;
  /** Compiles code without running it. */
  readonly compile: (code: string, file: string) => Uint8Array;
  readonly callFunction: (run: Handle, self: Handle, ...values: Handle[]) => Handle;
  /** Runs the jobs of promises until there are none. */
  readonly executePendingJobs: () => number;
  /** Frees the handles that were made inside, except for those that escape. */
  readonly withScope: <T>(work: (scope: { readonly escape: (handle: Handle) => Handle }) => T) => T;
  readonly dispose: () => void;
}

/** The options of an instance. */
interface InstanceOptions {
  readonly wasm: WebAssembly.Module;
  readonly memoryLimit: number;
  readonly maxStackSize: number;
  readonly timezoneOffset: number;
  /** Called now and then while code runs; true interrupts the code. */
  readonly interruptHandler: () => boolean;
  /** Functions of the system in place of the package's own. */
  readonly wasi: (memory: WebAssembly.Memory) => Readonly<Record<string, (...values: never[]) => number>>;
}

/** The package. */
export interface WasmEngine {
  readonly QuickJS: { readonly create: (options: InstanceOptions) => Promise<Instance> };
}
