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
  #checks: Promise<ReadChecks> | undefined;

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

  /** Reads the resource for the caller. */
  async canRead(call: Call, uri: string): Promise<boolean> {
    const { registry, read, log } = this.#parts;
    this.#checks ??= import('./read-checks.js').then(({ ReadChecks }) => new ReadChecks({ read, log }));
    const checks = await this.#checks;
    const match = registry.findResource(uri);
    return match === undefined || checks.canRead(call, match);
  }
}
