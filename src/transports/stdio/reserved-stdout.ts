import process from 'node:process';

/** The real standard output, for messages only. */
export interface ReservedStdout {
  /** Queues a line; the lines of one turn of the event loop leave in one write. */
  readonly send: (line: string) => void;
  /** Resolves when everything that was queued has left. */
  readonly flushed: () => Promise<void>;
  readonly restore: () => void;
}

/** Takes standard output for the protocol: `console.log` and stray writes go to standard error instead of into a message. */
export function reserveStdout(): ReservedStdout {
  const { stdout, stderr } = process;
  const write = stdout.write;
  stdout.write = stderr.write.bind(stderr) as typeof stdout.write;
  let queued = '';

  function flush(): void {
    const text = queued;
    queued = '';
    if (stdout.writable) write.call(stdout, text, 'utf8');
  }

  return {
    send(line) {
      if (queued === '') process.nextTick(flush);
      queued += `${line}\n`;
    },
    flushed: () =>
      new Promise((resolve) => {
        process.nextTick(() => {
          if (!stdout.writable) resolve();
          else write.call(stdout, '', 'utf8', () => resolve());
        });
      }),
    restore() {
      stdout.write = write;
    },
  };
}
