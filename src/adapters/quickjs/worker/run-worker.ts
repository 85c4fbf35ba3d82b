// The script of a worker thread: runs programs, each in a realm of its own.

import { parentPort, workerData } from 'node:worker_threads';
import type { CodeTurn } from '../../../protocol/code/code-engine.js';
import type { WasmEngine } from './instance.js';
import type { FromThread, ToThread, WorkerStart } from './protocol.js';
import { Realm } from './realm.js';
import type { RemoveTypes } from './source.js';

/** The part of `@swc/wasm-typescript` that is used. */
interface TypesLibrary {
  readonly transformSync: (
    source: string,
    options: { readonly mode: 'strip-only' },
  ) => { readonly code: string };
}

/** Runs in a worker thread: takes messages, one after the other, and replies to each with a turn. */
export async function runWorker(): Promise<void> {
  const { wasm, engine: address, types, limits } = workerData as WorkerStart;
  const engine = (await import(address)) as WasmEngine;
  const realms = new Map<number, Realm>();
  let isBroken = false;
  let stripping: Promise<RemoveTypes | undefined> | undefined;
  const reply = (message: FromThread): void => parentPort?.postMessage(message);

  async function loadTypes(): Promise<RemoveTypes | undefined> {
    if (types === undefined) return undefined;
    const { default: library } = (await import(types)) as { readonly default: TypesLibrary };
    return (source) => {
      try {
        return library.transformSync(source, { mode: 'strip-only' }).code;
      } catch (error) {
        // For a mistake in the source, the library throws an object that is not an Error.
        isBroken ||= error instanceof Error;
        throw error;
      }
    };
  }

  async function take(message: ToThread): Promise<CodeTurn | undefined> {
    if (message.do === 'end') {
      realms.get(message.realm)?.close();
      realms.delete(message.realm);
      return undefined;
    }
    if (message.do === 'start') {
      const onBegin = (): void => reply({ begun: true });
      // Loaded once, and only if a program needs it: that time is not the program's.
      const removeTypes = async (): Promise<RemoveTypes | undefined> => {
        reply({ loading: true });
        stripping ??= loadTypes();
        const strip = await stripping;
        onBegin();
        return strip;
      };
      const { realm, turn } = await Realm.start(message.program, {
        engine,
        wasm,
        limits,
        removeTypes,
        onBegin,
      });
      if (turn.end === undefined) realms.set(message.realm, realm);
      else realm.close();
      return turn;
    }
    const turn = realms.get(message.realm)?.run(message.result);
    if (turn?.end !== undefined) realms.delete(message.realm);
    return turn ?? { calls: [], printed: [] };
  }

  let last: Promise<void> = Promise.resolve();
  parentPort?.on('message', (message: ToThread) => {
    last = last.then(async () => {
      const turn = await take(message);
      if (turn !== undefined) reply({ turn, ...(isBroken && { isBroken }) });
    });
  });
  reply({ ready: true });
}
