// Runs handlers that yield: what they yield becomes progress and, if they return nothing, the result.

import { onAbort } from '../../async/abort.js';
import { iterate } from '../../async/iterate.js';
import { shorten } from '../../protocol/encoding/shorten.js';
import { cancelledBy } from '../../protocol/errors.js';
import { type ContentBlock, isContentBlock } from '../../protocol/model/content.js';
import type { CallContext } from './call-context.js';

const MAX_BLOCKS = 10_000;
const MAX_LENGTH = 16_777_216;
const MAX_MESSAGE_LENGTH = 4096;

type AnyCallContext = CallContext<never, never>;

/**
 * Reads what a handler yields, and reports each chunk as progress. Resolves with the value that the handler returns or, if there is
 * none, with everything that it yielded. The handler is closed when its run is over.
 */
export async function runYielding(source: AsyncIterable<unknown>, ctx: AnyCallContext): Promise<unknown> {
  const yielded = new Yielded();
  const value = await iterate(source, {
    each(chunk, index) {
      // The context may have another signal by now, that of a task.
      if (ctx.endReason !== undefined) throw ctx.endReason;
      if (ctx.signal.aborted) throw cancelledBy(ctx.signal.reason);
      const text = yielded.add(chunk, index);
      // A run that starts again yields the same chunks. Their numbers are not sent again, because they do not grow.
      ctx.progress(index + 1, undefined, text && shorten(text, MAX_MESSAGE_LENGTH));
    },
    onEnd: (end) => whileUnaborted(ctx, end),
  });
  return value === undefined ? yielded.result() : value;
}

function whileUnaborted(ctx: AnyCallContext, end: (reason: unknown) => void): () => void {
  const { signal } = ctx;
  // The call of a handler that continues as a task may end before the handler does.
  const stop = (): void => {
    if (ctx.signal.aborted) end(cancelledBy(ctx.signal.reason));
  };
  if (signal.aborted) stop();
  return onAbort(signal, stop);
}

/** The chunks that a handler has yielded, as content. Strings that follow each other are one text, as in a stream. */
class Yielded {
  #content: ContentBlock[] = [];
  #text = '';
  #length = 0;
  #isTooLong = false;

  /** Keeps a chunk. Returns its text, if it has one. */
  add(chunk: unknown, index: number): string | undefined {
    const isText = typeof chunk === 'string';
    if (!isText && !isContentBlock(chunk))
      throw new TypeError(
        `Each value that a handler yields must be a string or a content block, and [${index}] is neither. Return the value instead, or yield its text.`,
      );
    if (!this.#isTooLong) this.#keep(chunk);
    return isText ? chunk : chunk.type === 'text' ? chunk.text : undefined;
  }

  #keep(chunk: string | ContentBlock): void {
    if (typeof chunk === 'string') this.#text += chunk;
    else {
      this.#endText();
      this.#content.push(chunk);
    }
    this.#length += typeof chunk === 'string' ? chunk.length : (JSON.stringify(chunk) ?? '').length;
    if (this.#length <= MAX_LENGTH && this.#content.length <= MAX_BLOCKS) return;
    this.#isTooLong = true;
    this.#content = [];
    this.#text = '';
  }

  #endText(): void {
    if (this.#text !== '') this.#content.push({ type: 'text', text: this.#text });
    this.#text = '';
  }

  result(): object {
    if (this.#isTooLong)
      throw new TypeError(
        `The handler yielded more than ${MAX_BLOCKS} blocks or ${MAX_LENGTH} characters, which is too much for one result. Return a shorter result.`,
      );
    this.#endText();
    return { content: this.#content };
  }
}
