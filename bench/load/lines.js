import { callMessage } from '../request.js';

const LF = 0x0a;

/**
 * Sends requests over the pipes of a child process. Responses are counted by their newlines.
 * @param {import('node:child_process').ChildProcessWithoutNullStreams} child
 */
export function lineLoad(child) {
  let nextId = 1;
  let waiting = 0;
  let done = () => {};
  child.stdout.on('data', (chunk) => {
    for (let at = chunk.indexOf(LF); at !== -1; at = chunk.indexOf(LF, at + 1)) {
      if (--waiting === 0) done();
    }
  });

  /** Sends `count` requests in one write and waits for as many responses. */
  function ask(count) {
    let text = '';
    for (let sent = 0; sent < count; sent++) text += `${callMessage(nextId++)}\n`;
    return new Promise((resolve) => {
      waiting = count;
      done = () => resolve(undefined);
      child.stdin.write(text);
    });
  }

  /** The microseconds that each message takes. */
  async function timed(times, count) {
    const from = performance.now();
    for (let time = 0; time < times; time++) await ask(count);
    return ((performance.now() - from) * 1000) / (times * count);
  }

  return { ask, timed };
}
