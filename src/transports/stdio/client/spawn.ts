import type { ChildProcess } from 'node:child_process';
import process from 'node:process';
import { settlesWithin } from '../../../async/deadline.js';
import { isBehind } from '../../../async/unread.js';
import { type Line, LineReader, printLine } from '../../../jsonrpc/ndjson.js';
import { quote } from '../../../protocol/encoding/shorten.js';
import { McpError } from '../../../protocol/errors.js';
import { limitReports } from '../../client/limit-reports.js';
import { commandName, IT_WROTE, processName } from '../../client/process-name.js';
import type { Wire, WireEvents } from '../../client/wire.js';
import { decodeUtf8 } from '../decode.js';
import { lastLines, lineExcerpt, ShownPart, withoutSecrets } from './last-lines.js';
import { processTree } from './process-tree.js';
import { type ServerProcess, startFailure, startProcess } from './start-process.js';

export type { ServerProcess } from './start-process.js';

export interface SpawnOptions {
  /** The largest message that is read. */
  readonly maxMessageBytes?: number;
  /** A server that leaves more than this unread is disconnected. */
  readonly maxBufferedBytes?: number;
  /** The time for the server to exit after the end of its input. */
  readonly exitMs?: number;
  /** The time for the server to exit after SIGTERM. */
  readonly termMs?: number;
}

// When a process has exited, its last output is still in the pipes, and its children may keep the pipes open.
const DRAIN_MS = 250;
// If a process exits within this time after it has closed a pipe, its exit code is reported.
const EXIT_CODE_MS = 500;

/** A wire to a child process, a line for each message. `start` starts it; a failure to start is reported by `closed`. */
export function spawnWire(server: ServerProcess, options: SpawnOptions = {}): Wire {
  let running: Running | undefined;
  let closed = false;
  return {
    send: (text) => running?.send(text),
    lastLines: () => running?.lastLines() ?? [],
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
  readonly lastLines: () => readonly string[];
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
  // If Node has no file descriptors left, there are no pipes.
  const { stdin, stdout, stderr } = child as Partial<ChildProcess>;
  const secrets = server.env ?? {};
  const tree = processTree(child);
  const reader = new LineReader({ maxBytes: maxMessageBytes, decode: decodeUtf8 });
  const stderrLines = lastLines({ line: forward, secrets });
  // A program that does not serve prints lines that are not messages: its error, or its usage.
  const stdoutLines = lineExcerpt(secrets);
  const reportJunk = limitReports(events.problem);
  let isOver = false;
  let queued = '';

  const exited = new Promise<void>((resolve) => {
    child.once('exit', () => resolve()).on('error', (error) => onError(error, resolve));
  });
  const closed = new Promise((resolve) => child.once('close', resolve));
  const drained = exited.then(() => settlesWithin(closed, DRAIN_MS));
  stdout?.on('data', (chunk: Buffer) => reader.push(chunk).forEach(take));
  stdout?.on('error', ignore).once('end', () => void onPipeClosed('output'));
  stderr?.on('data', stderrLines.push).on('error', ignore);
  stdin?.on('error', () => void onPipeClosed('input'));
  void exited.then(leave);

  function onError(error: Error, resolve: () => void): void {
    if (child.pid !== undefined) return;
    lose(startFailure(server, error));
    resolve();
  }

  async function leave(): Promise<void> {
    void finish();
    await settlesWithin(drained, 2 * DRAIN_MS);
    const last = reader.end();
    if (last !== undefined) take(last);
    stderrLines.end();
    lose(whyEnded(server, child, outputLines()));
  }

  // A process that closes a pipe is usually about to exit, and its exit code is more informative.
  async function onPipeClosed(pipe: 'input' | 'output'): Promise<void> {
    if (isOver || (await settlesWithin(exited, EXIT_CODE_MS))) return;
    lose(whyEnded(server, child, outputLines(), `has closed its standard ${pipe} and was therefore ended`));
  }

  function take(line: Line): void {
    if (isOver) return;
    if (line.tooLong) {
      const { ends } = line;
      const reason = `The server wrote a message of more than ${maxMessageBytes} bytes. It was skipped.`;
      events.tooLong(reason, ends?.isRequest === false ? ends.id : undefined);
    } else if (isMessage(line.text)) events.message(line.text);
    else {
      stdoutLines.add(line.text);
      const excerpt = quote(withoutSecrets(line.text.slice(0, 1000), secrets), 200);
      reportJunk(`The server wrote a line to its standard output that is not a message: ${excerpt}`);
    }
  }

  function outputLines(): OutputLines {
    return { stderr: stderrLines.lines(), stdout: stdoutLines.lines() };
  }

  function forward(line: string): ShownPart | undefined {
    if (typeof server.stderr !== 'function') return undefined;
    try {
      const part: unknown = server.stderr(line);
      return part instanceof ShownPart ? part : undefined;
    } catch (error) {
      if (!isOver) events.problem('The listener for standard error has failed', error);
      return undefined;
    }
  }

  function flush(): void {
    const text = queued;
    queued = '';
    if (text !== '' && stdin?.writable) stdin.write(text, 'utf8');
  }

  function lose(reason: McpError): void {
    if (isOver) return;
    isOver = true;
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
      if (isOver) return;
      if (isBehind(queued.length + (stdin?.writableLength ?? 0), maxBufferedBytes)) {
        return lose(whyEnded(server, child, outputLines(), 'does not read its input and was ended'));
      }
      // The messages of one turn of the event loop are sent in one write.
      if (queued === '') process.nextTick(flush);
      queued += printLine(text);
    },
    lastLines: stderrLines.lines,
    close() {
      isOver = true;
      return finish();
    },
  };
}

/** Whether a line may be a message. Other output rarely begins with a bracket. */
function isMessage(text: string): boolean {
  const first = text.charCodeAt(0) === 0x7b ? '{' : text.trimStart()[0];
  return first === '{' || first === '[';
}

interface OutputLines {
  readonly stderr: readonly string[];
  readonly stdout: readonly string[];
}

function whyEnded(
  server: ServerProcess,
  child: ChildProcess,
  outputLines: OutputLines,
  other?: string,
): McpError {
  const { exitCode, signalCode: signal } = child;
  const name = JSON.stringify(processName(server));
  const how = signal === null ? `has ended with exit code ${exitCode}` : `was ended by ${signal}`;
  const output = [
    ...describeOutput('error', outputLines.stderr),
    // Lines that are not messages are shown only if there is nothing better.
    ...(outputLines.stderr.length === 0 ? describeOutput('output', outputLines.stdout) : []),
  ];
  return new McpError('connection_closed', `The server ${name} ${other ?? how}.${output.join('')}`, {
    data: { command: commandName(server.command), exitCode, signal, ...outputLines },
  });
}

function describeOutput(stream: 'error' | 'output', lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : [`${IT_WROTE}${stream}:\n${lines.join('\n')}`];
}

function ignore(): void {
  // The end of the process is reported.
}
