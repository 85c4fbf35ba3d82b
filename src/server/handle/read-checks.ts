// Finds out whether a subscriber can read a resource whose change is announced. Loaded with the first such subscriber.

import { settlesWithin } from '../../async/deadline.js';
import { hasEnded, Lifetime, onEnd, withSignal } from '../../async/lifetime.js';
import type { Call } from '../../protocol/call.js';
import { copyCall } from '../../protocol/direct.js';
import { shorten } from '../../protocol/encoding/shorten.js';
import { McpError } from '../../protocol/errors.js';
import type { ResourceMatch } from '../catalog/registry.js';
import { ToolError } from '../results/tool-error.js';
import type { Logger } from '../state/log.js';

/** The number of reads of one definition at the same time: a change may have thousands of subscribers. */
const MAX_READS = 64;
/** The longest time for a read. */
const READ_MS = 30_000;

/** The reads of one definition. A reader that hangs delays no other. */
interface Lane {
  running: number;
  readonly waiting: (() => void)[];
}

/** The parts of `ReadChecks`. */
export interface ReadChecksParts {
  /** Reads a resource for the caller of a call. Rejects if the caller cannot read it. */
  readonly read: (call: Call, match: ResourceMatch) => Promise<unknown>;
  readonly log: Logger;
}

/**
 * Reads resources in the name of subscribers. A reader that hides a resource from a caller, because it filters by the user, hides its
 * changes as well.
 */
export class ReadChecks {
  readonly #parts: ReadChecksParts;
  readonly #lanes = new WeakMap<object, Lane>();
  /** The definitions whose readers have failed. */
  readonly #failed = new WeakSet<object>();

  constructor(parts: ReadChecksParts) {
    this.#parts = parts;
  }

  /** Whether the caller can read the resource now. A read that fails or takes too long is one that the caller cannot make. */
  async canRead(call: Call, match: ResourceMatch): Promise<boolean> {
    const lane = this.#laneOf(match);
    if (lane.running >= MAX_READS) await new Promise<void>((resolve) => lane.waiting.push(resolve));
    else lane.running++;
    try {
      return !hasEnded(call) && (await this.#read(call, match));
    } finally {
      const next = lane.waiting.shift();
      if (next === undefined) lane.running--;
      else next();
    }
  }

  #laneOf({ source }: ResourceMatch): Lane {
    const lane = this.#lanes.get(source) ?? { running: 0, waiting: [] };
    this.#lanes.set(source, lane);
    return lane;
  }

  async #read(call: Call, match: ResourceMatch): Promise<boolean> {
    const lifetime = new Lifetime();
    const unlisten = onEnd(call, () => lifetime.end(call.signal.reason));
    // The client has not asked for this read, so the progress and the log of the reader are not for it.
    const changes = { method: 'resources/read', params: { uri: match.uri }, notify: () => undefined };
    const own = withSignal(copyCall(call, changes), lifetime);
    let isReadable = false;
    const reading = this.#parts.read(own, match).then(
      () => {
        isReadable = true;
      },
      (error: unknown) => this.#report(match, error),
    );
    if (!(await settlesWithin(Promise.race([reading, lifetime.whenEnded()]), READ_MS, { unref: true })))
      this.#report(match, new Error(`The read took longer than ${READ_MS} ms`));
    unlisten();
    lifetime.end(new DOMException('The read is not needed any longer', 'AbortError'));
    return isReadable;
  }

  // A reader refuses with these errors. Others are mistakes, and subscribers would wait for a change that is never reported.
  #report({ uri, source }: ResourceMatch, error: unknown): void {
    if (McpError.is(error) || ToolError.is(error) || this.#failed.has(source)) return;
    this.#failed.add(source);
    this.#parts.log(
      'warning',
      `The resource "${shorten(uri, 256)}" could not be read for a subscriber, who is therefore not told of its changes. Announce them with "to", or set cacheScope: 'public' if the contents are the same for every caller`,
      error,
    );
  }
}
