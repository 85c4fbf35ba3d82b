import type { ChildProcess } from 'node:child_process';
import process from 'node:process';
import { settlesWithin } from '../../../async/deadline.js';
import { type Line, LineReader, printLine } from '../../../jsonrpc/ndjson.js';
import { quote } from '../../../protocol/encoding/shorten.js';
import { McpError } from '../../../protocol/errors.js';
import { isBehind } from '../../client/backlog.js';
import { limitReports } from '../../client/limit-reports.js';
import { commandName, processName } from '../../client/process-name.js';
import type { Wire, WireEvents } from '../../client/wire.js';
import { keptLines, lastLines, withoutSecrets } from './last-lines.js';
import { processTree } from './process-tree.js';
import { type ServerProcess, startFailure, startProcess } from './start-process.js';

export type { ServerProcess } from './start-process.js';

export interface SpawnOptions {
  /** The longest message that is read. */
  readonly maxMessageBytes?: number;
  /** A server that leaves more than this unread is disconnected. */
  readonly maxBufferedBytes?: number;
  /** How long the server may take to end after the end of its input. */
  readonly exitMs?: number;
  /** How long it may take after SIGTERM. */
  readonly termMs?: number;
}

// The last output of a process is still in its pipes when it has ended; its children may hold the pipes open.
const DRAIN_MS = 250;
// A process that ends within this time after one of its pipes is reported by its exit code.
const EXIT_CODE_MS = 500;

/** A server as a child process, a message a line. It is started by `start`; a failure to start is told through `closed`. */
export function spawnWire(server: ServerProcess, options: SpawnOptions = {}): Wire {
  let running: Running | undefined;
  let closed = false;
  return {
    send: (text) => running?.send(text),
    lastWords: () => running?.lastWords() ?? [],
    start(events) {
      if (closed) return;
      let child: ChildProcess;
      try {
        child = startProcess(server);
      } catch (error) {
        return process.nextTick(() => {
          if (!closed) events.closed(startFailure(server, error));
        });
      }
      running = run(child, { server, options, events });
    },
    async close() {
      closed = true;
      await running?.close();
    },
  };
}

interface Running {
  readonly send: (text: string) => void;
  readonly lastWords: () => readonly string[];
  readonly close: () => Promise<void>;
}

interface Parts {
  readonly server: ServerProcess;
  readonly options: SpawnOptions;
  readonly events: WireEvents;
}

function run(child: ChildProcess, { server, options, events }: Parts): Running {
  const { maxMessageBytes = 16 * 1024 * 1024, maxBufferedBytes = 64 * 1024 * 1024 } = options;
  const { exitMs = 2000, termMs = 2000 } = options;
  // Where Node has no file descriptors left, there are not even pipes.
  const { stdin, stdout, stderr } = child as Partial<ChildProcess>;
  const secrets = server.env ?? {};
  const tree = processTree(child);
  const reader = new LineReader({ maxBytes: maxMessageBytes });
  const said = lastLines({ line: forward, secrets });
  // A program that does not serve prints lines that are not messages: its error, or its usage.
  const printed = keptLines(secrets);
  const junk = limitReports(events.problem);
  let over = false;
  let queued = '';

  const exited = new Promise<void>((resolve) => {
    child.once('exit', () => resolve()).on('error', (error) => failed(error, resolve));
  });
  const closed = new Promise((resolve) => child.once('close', resolve));
  const drained = exited.then(() => settlesWithin(closed, DRAIN_MS));
  stdout?.on('data', (chunk: Buffer) => reader.push(chunk).forEach(take));
  stdout?.on('error', ignore).once('end', () => void broken('output'));
  stderr?.on('data', said.push).on('error', ignore);
  stdin?.on('error', () => void broken('input'));
  void exited.then(leave);

  function failed(error: Error, resolve: () => void): void {
    if (child.pid !== undefined) return;
    lose(startFailure(server, error));
    resolve();
  }

  async function leave(): Promise<void> {
    void finish();
    await settlesWithin(drained, 2 * DRAIN_MS);
    const last = reader.end();
    if (last !== undefined) take(last);
    said.end();
    lose(whyEnded(server, child, words()));
  }

  // A process that closes a pipe is mostly about to end, and its exit code says more.
  async function broken(pipe: 'input' | 'output'): Promise<void> {
    if (over || (await settlesWithin(exited, EXIT_CODE_MS))) return;
    lose(whyEnded(server, child, words(), `has closed its standard ${pipe} and was therefore ended`));
  }

  function take(line: Line): void {
    if (over) return;
    if (line.tooLong) {
      const { ends } = line;
      const reason = `The server wrote a message of more than ${maxMessageBytes} bytes. It was skipped.`;
      events.tooLong(reason, ends?.isRequest === false ? ends.id : undefined);
    } else if (isMessage(line.text)) events.message(line.text);
    else {
      printed.keep(line.text);
      const shown = quote(withoutSecrets(line.text.slice(0, 1000), secrets), 200);
      junk(`The server wrote a line to its standard output that is not a message: ${shown}`);
    }
  }

  function words(): Words {
    return { stderr: said.lines(), stdout: printed.lines() };
  }

  function forward(line: string): void {
    if (typeof server.stderr !== 'function') return;
    try {
      server.stderr(line);
    } catch (error) {
      if (!over) events.problem('The listener for standard error has failed', error);
    }
  }

  function flush(): void {
    const text = queued;
    queued = '';
    if (text !== '' && stdin?.writable) stdin.write(text, 'utf8');
  }

  function lose(reason: McpError): void {
    if (over) return;
    over = true;
    events.closed(reason);
    void finish();
  }

  let finishing: Promise<void> | undefined;
  function finish(): Promise<void> {
    finishing ??= endProcess();
    return finishing;
  }

  async function endProcess(): Promise<void> {
    flush();
    stdin?.end();
    await settlesWithin(exited, exitMs);
    await tree.end({ termMs });
    // Bounded, because not even SIGKILL ends a process that hangs in the kernel.
    await settlesWithin(drained, 2 * DRAIN_MS);
    for (const pipe of [stdin, stdout, stderr]) pipe?.destroy();
  }

  return {
    send(text) {
      if (over) return;
      if (isBehind(queued.length + (stdin?.writableLength ?? 0), maxBufferedBytes)) {
        return lose(whyEnded(server, child, words(), 'does not read its input and was ended'));
      }
      // The messages of one turn of the event loop leave in one write.
      if (queued === '') process.nextTick(flush);
      queued += printLine(text);
    },
    lastWords: said.lines,
    close() {
      over = true;
      return finish();
    },
  };
}

/** Anything else that a program may print begins otherwise. */
function isMessage(text: string): boolean {
  const first = text.charCodeAt(0) === 0x7b ? '{' : text.trimStart()[0];
  return first === '{' || first === '[';
}

interface Words {
  readonly stderr: readonly string[];
  readonly stdout: readonly string[];
}

function whyEnded(server: ServerProcess, child: ChildProcess, words: Words, other?: string): McpError {
  const { exitCode, signalCode: signal } = child;
  const name = JSON.stringify(processName(server));
  const how = signal === null ? `has ended with exit code ${exitCode}` : `was ended by ${signal}`;
  const output = [
    ...describeOutput('error', words.stderr),
    // Junk in the output says something of the end only where there is nothing better.
    ...(words.stderr.length === 0 ? describeOutput('output', words.stdout) : []),
  ];
  return new McpError('connection_closed', `The server ${name} ${other ?? how}.${output.join('')}`, {
    data: { command: commandName(server.command), exitCode, signal, ...words },
  });
}

function describeOutput(stream: 'error' | 'output', lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : [` It wrote to standard ${stream}:\n${lines.join('\n')}`];
}

function ignore(): void {
  // The end of the process says it.
}
