import type { Call } from '../../protocol/call.js';
import { isTrusted } from '../access/gate.js';
import type { Registry } from '../catalog/registry.js';
import type { HandlerHome } from '../context/handler-run.js';
import type { Logger } from '../state/log.js';
import type { ReadChecks, ReadChecksParts } from './read-checks.js';

/** The parts of a `Reading`. */
export interface ReadingParts extends Pick<ReadChecksParts, 'read'> {
  readonly registry: Registry;
  readonly home: HandlerHome;
  readonly log: Logger;
}

/** Decides whether a subscriber can read a resource, where the reader may answer each caller differently. */
export class Reading {
  readonly #parts: ReadingParts;
  #checks: ReadChecks | undefined;
  #loading: Promise<void> | undefined;

  constructor(parts: ReadingParts) {
    this.#parts = parts;
  }

  /** Whether the resource may exist for some callers only, and this caller is one that its reader can tell from others. */
  mayDiffer(call: Call, uri: string): boolean {
    const { registry, home } = this.#parts;
    if (isTrusted(call) || (call.auth === undefined && !home.hasUser && !registry.mountsUsers)) return false;
    const source = registry.findResource(uri)?.source;
    if (source === undefined || source.cacheScope === 'public') return false;
    return call.auth !== undefined || (source.mounted?.home ?? home).hasUser;
  }

  /** Prepares for the changes of resources, so that none is late. Undefined if there is nothing to prepare. */
  ready(call: Call, uris: readonly string[]): Promise<void> | undefined {
    const isReady = this.#checks !== undefined || !uris.some((uri) => this.mayDiffer(call, uri));
    return isReady ? undefined : this.#load();
  }

  #load(): Promise<void> {
    const { read, log } = this.#parts;
    this.#loading ??= import('./read-checks.js').then(({ ReadChecks }) => {
      this.#checks = new ReadChecks({ read, log });
    });
    return this.#loading;
  }

  /** Reads the resource for the caller. */
  async canRead(call: Call, uri: string): Promise<boolean> {
    // A resource may have been added since the subscription began.
    if (this.#checks === undefined) await this.#load();
    const match = this.#parts.registry.findResource(uri);
    return match === undefined || (this.#checks as ReadChecks).canRead(call, match);
  }
}
