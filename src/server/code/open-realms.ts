// An engine that is opened with the first program, and closes with the server.

import type { CodeEngine, CodeRealms } from '../../protocol/code/code-engine.js';

/** An engine that may be open. */
export interface OpenRealms {
  /** The engine, which is opened by the first call. */
  readonly realms: () => Promise<CodeRealms>;
  /** Ends all programs. */
  readonly close: () => Promise<void>;
}

/** Makes the way to an engine. One that could not be opened is tried again. */
export function openRealms({ open }: Pick<CodeEngine, 'open'>): OpenRealms {
  let opening: Promise<CodeRealms> | undefined;
  return {
    realms() {
      opening ??= open().catch((error: unknown) => {
        opening = undefined;
        throw error;
      });
      return opening;
    },
    close: async () => (await opening?.catch(() => undefined))?.close(),
  };
}
