// Records a connection in the format of the testing kit, within bounds.

import type { Middleware, Outcome } from '../../../protocol/call.js';
import { type Recorder, recorder } from '../../../testing/recording/recorder.js';

const MAX_CHARACTERS = 32 * 1024 * 1024;
/** A larger result is not recorded: its secrets could not be removed in reasonable time. */
const MAX_RESULT = 4 * 1024 * 1024;

/** Those of one call that are recorded. */
const MAX_NOTIFICATIONS = 1000;

/** The facts of a call that its recording needs. */
interface CallFacts {
  /** The size of its latest response. */
  readonly bytes: number;
  /** The time that the user took to answer. */
  readonly youMs: number;
}

interface RecordedLine {
  readonly call?: number;
  readonly method?: string;
  readonly notify?: string;
}

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
  /** The number of the call that began last. */
  #begun = 0;
  /** The time that the user took to answer, of calls whose last line is not written yet. */
  readonly #yourTimes = new Map<number, number>();
  #capabilities: unknown;

  constructor(secrets: readonly string[]) {
    this.#recorder = recorder({ secrets, keep: false, onLine: (line) => this.#take(line) });
  }

  /** Middleware for a client. `factsOf` tells about the call that is recorded, when it ends. */
  middleware(factsOf: () => CallFacts): Middleware {
    return async (call, next) => {
      let outcome: Outcome | undefined;
      let notifications = 0;
      await this.#recorder(call, async (inner) => {
        const notify: typeof call.notify = (method, params) =>
          ++notifications > MAX_NOTIFICATIONS ? call.notify(method, params) : inner.notify(method, params);
        // The recorder has just written the line that begins this call.
        const number = this.#begun;
        try {
          outcome = await next({ ...inner, notify });
        } finally {
          const { youMs } = factsOf();
          if (youMs > 0) this.#yourTimes.set(number, youMs);
        }
        const { bytes } = factsOf();
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
    const entry = JSON.parse(line) as RecordedLine;
    const { call, method, notify } = entry;
    if (call === undefined) return void this.#heading.push(line);
    if (method !== undefined) this.#begun = call;
    const recorded = this.#calls.get(call) ?? { lines: [], length: 0 };
    this.#calls.set(call, recorded);
    const isEnd = method === undefined && notify === undefined;
    const kept = isEnd ? this.#withYourTime(call, line) : line;
    recorded.lines.push(kept);
    recorded.length += kept.length;
    this.#length += kept.length;
    for (const [number, oldest] of this.#calls) {
      if (this.#length <= MAX_CHARACTERS || number === call) return;
      this.#capabilities = capabilitiesIn(oldest.lines[0]) ?? this.#capabilities;
      this.#length -= oldest.length;
      this.#calls.delete(number);
    }
  }

  #withYourTime(call: number, line: string): string {
    const youMs = this.#yourTimes.get(call);
    this.#yourTimes.delete(call);
    return youMs === undefined ? line : `${line.slice(0, -1)},"youMs":${youMs}}`;
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
