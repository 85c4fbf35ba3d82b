import { hasEnded } from '../../async/lifetime.js';
import type { JsonObject } from '../../jsonrpc/message.js';
import type { Call } from '../../protocol/call.js';
import { copyCall } from '../../protocol/direct.js';
import { progressToken } from '../../protocol/meta.js';

// The progress of a run, for the calls that wait for it.

const PROGRESS = 'notifications/progress';

/**
 * The progress that a call is told while it waits for the runs of others, and while it runs itself after that. The value always grows,
 * as the specification requires: a run that begins anew is silent until it is further than the one before.
 */
export class ToldProgress {
  readonly #call: Call;
  #last = Number.NEGATIVE_INFINITY;

  constructor(call: Call) {
    this.#call = call;
  }

  /**
   * Tells the call about the progress of a run. If the run is another caller's, only that it continues: its numbers and its text may be
   * about things that this caller must not see.
   */
  tell(progress: JsonObject, isSameCaller: boolean): void {
    const { params, notify } = this.#call;
    const token = progressToken(params);
    if (token === undefined || hasEnded(this.#call)) return;
    const content = isSameCaller ? progress : { progress: Math.max(0, this.#last) + 1 };
    if (this.#grows(content)) notify(PROGRESS, { ...content, progressToken: token });
  }

  /** The call, to run it now. It is told only about progress beyond that of the runs that it has waited for. */
  toRun(): Call {
    if (this.#last === Number.NEGATIVE_INFINITY) return this.#call;
    const { notify } = this.#call;
    return copyCall(this.#call, {
      notify: (method, content) => {
        if (method !== PROGRESS || content === undefined || this.#grows(content)) notify(method, content);
      },
    });
  }

  #grows({ progress }: JsonObject): boolean {
    if (typeof progress !== 'number' || !(progress > this.#last)) return false;
    this.#last = progress;
    return true;
  }
}
