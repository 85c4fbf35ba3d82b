import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, tool } from 'fullmcp';
import { connect } from 'fullmcp/client';
import { logging } from 'fullmcp/middleware';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { OperatorLog } from '../../../../src/protocol/telemetry/operator-log.js';

function lines(): string[] {
  const written: string[] = [];
  const spy = vi.spyOn(console, 'error').mockImplementation((line) => void written.push(line));
  onTestFinished(() => spy.mockRestore());
  return written;
}

function logAs(format: 'json' | 'text', level: 'debug' | 'warning' = 'debug'): OperatorLog {
  const log = new OperatorLog('math');
  log.provide({ format, level });
  return log;
}

const NASTY = 'a\n[fullmcp] error: forged\r\u001b[2J\u009b31m\u2028\u202e\u0007';

describe('the log of a server', () => {
  test('has a line of JSON with time, level, server, message and the error', () => {
    const written = lines();
    const cause = Object.assign(new Error('inner'), { code: 'ECONNREFUSED' });
    logAs('json').log('error', 'It failed', new TypeError('outer', { cause }));
    const entry = JSON.parse(written[0] ?? '');
    expect(entry).toMatchObject({
      level: 'error',
      server: 'math',
      message: 'It failed',
      error: { name: 'TypeError', message: 'outer', cause: { message: 'inner', code: 'ECONNREFUSED' } },
    });
    expect(Date.parse(entry.time)).not.toBeNaN();
    expect(entry.error.stack).toContain('operator-log.test');
  });

  test('is text for a person on a terminal', () => {
    const written = lines();
    logAs('text').log('warning', 'Careful', 'why');
    expect(written).toEqual(['[fullmcp] warning: Careful why']);
  });

  test.each(['json', 'text'] as const)('cannot be forged (%s)', (format) => {
    const written = lines();
    logAs(format).log('error', NASTY, new Error(NASTY));
    const [text = ''] = written;
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these must not be in a line.
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028-\u202e]/);
    // Only the stack has further lines, and they are indented.
    expect(
      text
        .split('\n')
        .slice(1)
        .every((line) => format === 'text' && line.startsWith('    ')),
    ).toBe(true);
  });

  test.each(['json', 'text'] as const)('has no secrets (%s)', (format) => {
    const written = lines();
    const error = new Error(
      'postgres://app:hunter2@db/x refused, password=hunter2, Bearer hunter2hunter2hunter2',
    );
    logAs(format).log('error', 'token: hunter2', error);
    expect(written[0]).not.toContain('hunter2');
  });

  test('is short, whatever it is about, and never throws', () => {
    const written = lines();
    const cyclic: Record<string, unknown> = {};
    cyclic['self'] = cyclic;
    const bad = {
      get message(): string {
        throw new Error('no');
      },
    };
    for (const format of ['json', 'text'] as const)
      for (const detail of [cyclic, bad, 1n, 'x'.repeat(1e6), new Error('x'.repeat(1e6)), null, Symbol('s')])
        logAs(format).log('error', 'y'.repeat(1e6), detail);
    expect(written).toHaveLength(14);
    expect(Math.max(...written.map((line) => line.length))).toBeLessThan(60_000);
  });

  test('has only what is severe enough', () => {
    const written = lines();
    const log = logAs('text', 'warning');
    log.log('info', 'no');
    log.log('warning', 'yes');
    log.entry({ level: 'info' });
    log.entry({ level: 'error' });
    expect(written).toEqual(['[fullmcp] warning: yes', '{"level":"error"}']);
  });

  test('takes its level from the environment, and says so if that is wrong', () => {
    vi.stubEnv('MCP_LOG_LEVEL', 'loud');
    vi.stubEnv('MCP_LOG_FORMAT', 'text');
    onTestFinished(() => void vi.unstubAllEnvs());
    const written = lines();
    new OperatorLog().log('info', 'hello');
    expect(written.join('\n')).toContain('The environment variable MCP_LOG_LEVEL must be a level');
    vi.stubEnv('MCP_LOG_LEVEL', 'error');
    new OperatorLog().log('warning', 'hidden');
    expect(written.join('\n')).not.toContain('hidden');
  });
});

test('a level that is provided to a server applies to logging(), and not to a logger of the program', async () => {
  const written = lines();
  const logger = vi.fn();
  const tools = { add: tool({ run: () => 1 }), bad: tool({ run: () => Promise.reject(new Error('x')) }) };
  const server = createServer({ name: 'a', version: '1.0.0', tools, logger, use: [logging()] });
  server.provideLog({ level: 'warning' });
  await using client = await connect(server);
  await client.callTool('add', {});
  await client.callTool('bad', {});
  expect(written.map((line) => JSON.parse(line).target)).toEqual(['bad']);
  expect(logger).toHaveBeenCalledTimes(1);
});

describe('a program whose standard error', () => {
  const program = `
    import { createServer } from 'fullmcp';
    const { logger } = createServer({ name: 'a', version: '1.0.0' });
    let n = 0;
    const timer = setInterval(() => {
      for (let i = 0; i < 100; i++) logger('warning', 'x'.repeat(8000));
      if (++n === 20) { clearInterval(timer); console.log(process.stderr.writableLength); process.exit(0); }
    }, 1);`;

  function start() {
    const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    child.stdout.on('data', (chunk) => {
      output += chunk;
    });
    return { child, output: () => output };
  }

  test('is not read continues, and keeps little in memory', async () => {
    const { child, output } = start();
    child.stderr.pause();
    const [code] = await once(child, 'exit');
    expect(code).toBe(0);
    expect(Number(output())).toBeLessThan(2 * 1024 * 1024);
  });

  test('was closed continues', async () => {
    const { child } = start();
    child.stderr.destroy();
    const [code] = await once(child, 'exit');
    expect(code).toBe(0);
  });
});
