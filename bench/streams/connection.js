import { connect } from 'node:net';
import { isComplete } from '../load/http.js';

// A connection that does as little work as possible for each message, because ten thousand of them share a process.

/** All connections of a process read into the same memory: its content is used before the next read. */
const memory = Buffer.allocUnsafe(64 * 1024);
/** The ports of one address are used up by some 28,000 connections. */
const PER_ADDRESS = 20_000;

/** An open stream, or a connection on its way to become one. */
export class Connection {
  /** @type {import('node:net').Socket} */
  #socket;
  /** @type {(text: string) => void} */
  #onMessage;
  #rest = '';
  #isStream = false;
  #hasFrames = false;
  /** @type {((text: string) => void) | undefined} */
  #answer;
  /** @type {((error: Error) => void) | undefined} */
  #fail;
  isClosed = false;

  /**
   * @param {number} port
   * @param {number} number
   * @param {(text: string) => void} onMessage called with each line of a stream, or with each frame
   */
  constructor(port, number, onMessage) {
    this.#onMessage = onMessage;
    this.#socket = connect({
      port,
      host: '127.0.0.1',
      localAddress: `127.0.0.${2 + Math.floor(number / PER_ADDRESS)}`,
      noDelay: true,
      onread: { buffer: memory, callback: (length, bytes) => this.#read(bytes.latin1Slice(0, length)) },
    });
    this.#socket.on('error', (error) => this.#fail?.(error));
    this.#socket.on('close', () => {
      this.isClosed = true;
      this.#fail?.(new Error('The server closed the connection.'));
    });
  }

  /** Sends a request and resolves with its reply, or with the beginning of a stream. @param {string | Buffer} request */
  ask(request) {
    return new Promise((resolve, reject) => {
      this.#answer = resolve;
      this.#fail = reject;
      this.#socket.write(request);
    });
  }

  /** Everything from now on is a frame of a WebSocket. */
  readFrames() {
    this.#hasFrames = true;
  }

  pause() {
    this.#socket.pause();
  }

  resume() {
    this.#socket.resume();
  }

  close() {
    this.#socket.destroy();
  }

  #read(text) {
    if (this.#hasFrames) this.#readFrames(text);
    else if (this.#isStream) this.#readLines(text);
    else this.#readReply(text);
    return true;
  }

  #readReply(text) {
    this.#rest += text;
    if (!isComplete(this.#rest)) return;
    const reply = this.#rest;
    this.#rest = '';
    this.#isStream = reply.includes('text/event-stream');
    this.#answered(reply);
  }

  #answered(text) {
    const answer = this.#answer;
    this.#answer = undefined;
    this.#fail = undefined;
    answer?.(text);
  }

  #readLines(text) {
    const all = this.#rest + text;
    let from = 0;
    for (let to = all.indexOf('\n'); to !== -1; to = all.indexOf('\n', from)) {
      if (all.startsWith('data: ', from) || all.startsWith(':', from)) this.#onMessage(all.slice(from, to));
      from = to + 1;
    }
    this.#rest = from === all.length ? '' : all.slice(from);
  }

  #readFrames(text) {
    let all = this.#rest + text;
    for (;;) {
      const size = all.charCodeAt(1);
      const start = size < 126 ? 2 : 4;
      const length = size < 126 ? size : (all.charCodeAt(2) << 8) | all.charCodeAt(3);
      if (all.length < start || all.length < start + length) break;
      const message = all.slice(start, start + length);
      if (this.#answer === undefined) this.#onMessage(message);
      else this.#answered(message);
      all = all.slice(start + length);
    }
    this.#rest = all;
  }
}
