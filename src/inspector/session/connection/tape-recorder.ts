// Records a connection in the format of the testing kit, within bounds.

import type { Middleware, Outcome } from '../../../protocol/call.js';
import { type Recorder, recorder } from '../../../testing/recording/recorder.js';

const MAX_CHARACTERS = 32 * 1024 * 1024;
/** A larger result is not recorded: its secrets could not be removed in reasonable time. */
const MAX_RESULT = 4 * 1024 * 1024;

/** Those of one call that are recorded. */
const MAX_NOTIFICATIONS = 1000;

interface RecordedLines {
  readonly lines: string[];
  length: number;
}

/** Keeps the latest calls. */
export class ConnectionTape {
  readonly #recorder: Recorder;
  readonly #heading: string[] = [];
  readonly #calls = new Map<number, RecordedLines>();
  #length = 0;
  #capabilities: unknown;

  constructor(secrets: readonly string[]) {
    this.#recorder = recorder({ secrets, keep: false, onLine: (line) => this.#take(line) });
  }

  /** Middleware for a client. `lastBytes` is the size of the latest response of the call that is recorded. */
  middleware(lastBytes: () => number): Middleware {
    return async (call, next) => {
      let outcome: Outcome | undefined;
      let notifications = 0;
      await this.#recorder(call, async (inner) => {
        const notify: typeof call.notify = (method, params) =>
          ++notifications > MAX_NOTIFICATIONS ? call.notify(method, params) : inner.notify(method, params);
        outcome = await next({ ...inner, notify });
        const bytes = lastBytes();
        return bytes > MAX_RESULT ? placeholder(bytes) : outcome;
      });
      return outcome as Outcome;
    };
  }

  /** The recording, as a file. */
  get text(): string {
    const [first, ...others] = [...this.#calls.values()];
    const lines = [
      ...this.#heading,
      ...this.#withCapabilities(first),
      ...others.flatMap((call) => call.lines),
    ];
    return `${lines.join('\n')}\n`;
  }

  #take(line: string): void {
    const { call } = JSON.parse(line) as { readonly call?: number };
    if (call === undefined) return void this.#heading.push(line);
    const recorded = this.#calls.get(call) ?? { lines: [], length: 0 };
    this.#calls.set(call, recorded);
    recorded.lines.push(line);
    recorded.length += line.length;
    this.#length += line.length;
    for (const [number, oldest] of this.#calls) {
      if (this.#length <= MAX_CHARACTERS || number === call) return;
      this.#capabilities = capabilitiesIn(oldest.lines[0]) ?? this.#capabilities;
      this.#length -= oldest.length;
      this.#calls.delete(number);
    }
  }

  /** A call says what the client can do only if that has changed; the first one must say it. */
  #withCapabilities(first: RecordedLines | undefined): readonly string[] {
    const [begin, ...rest] = first?.lines ?? [];
    if (begin === undefined || this.#capabilities === undefined || capabilitiesIn(begin) !== undefined)
      return first?.lines ?? [];
    return [JSON.stringify({ ...JSON.parse(begin), capabilities: this.#capabilities }), ...rest];
  }
}

function capabilitiesIn(line: string | undefined): unknown {
  return line === undefined ? undefined : (JSON.parse(line) as { capabilities?: unknown }).capabilities;
}

function placeholder(bytes: number): Outcome {
  return {
    resultType: 'complete',
    content: [{ type: 'text', text: `[a result of ${bytes} bytes, which is too large for a tape]` }],
  };
}
