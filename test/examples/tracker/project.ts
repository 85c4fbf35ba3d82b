import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import process from 'node:process';
import { expect } from 'vitest';
import { freePort } from '../../support/free-port.js';
import { until } from '../../support/until.js';
import { type PageName, root, type Shown } from './page.js';

// The folder of a reader of the tutorial, in which the commands of the pages run as they are written.

const PACKAGES = ['zod', 'jiti', 'lmdb', 'pg', '@opentelemetry', '@types'];
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
const stripsTypes = major > 22 || (major === 22 && minor >= 18);

/** A program that runs in a terminal of its own. */
export interface Terminal {
  readonly child: ChildProcess;
  /** Everything that it has printed. */
  readonly printed: () => string;
  /** Waits until it has printed something that matches. */
  readonly prints: (pattern: RegExp) => Promise<RegExpExecArray>;
  /** Ends it, and waits for its end. Returns its exit code. */
  readonly end: (signal?: NodeJS.Signals) => Promise<number | null>;
}

export class Project implements AsyncDisposable {
  readonly folder: string = mkdtempSync(join(tmpdir(), 'fullmcp-tracker-'));
  readonly #terminals: Terminal[] = [];
  /** The ports of this run, by those of the pages. */
  readonly #ports = new Map<string, string>();
  readonly #variables: Record<string, string> = {};

  /** The program after a page. With several pages, files of later ones replace those of earlier ones. */
  static async after(...pages: readonly PageName[]): Promise<Project> {
    const project = new Project();
    for (const page of pages) project.copy(page);
    const modules = join(project.folder, 'node_modules');
    mkdirSync(join(modules, '.bin'), { recursive: true });
    symlinkSync(root, join(modules, 'fullmcp'));
    for (const name of PACKAGES) symlinkSync(join(root, 'node_modules', name), join(modules, name));
    project.#writeProgram('fullmcp', `exec node "${join(root, 'dist/cli/fullmcp.js')}" "$@"`);
    project.#writeProgram('npx', 'exec "$@"');
    project.#writeProgram('tsc', `exec node "${join(root, 'node_modules/typescript/bin/tsc')}" "$@"`);
    writeFileSync(join(project.folder, 'package.json'), '{ "name": "tracker", "type": "module" }\n');
    for (const port of ['3000', '3001', '3002', '9464']) project.#ports.set(port, String(await freePort()));
    return project;
  }

  copy(page: PageName, ...files: readonly string[]): void {
    const from = join(root, 'examples/tracker', page);
    if (files.length === 0) cpSync(from, this.folder, { recursive: true });
    for (const file of files) cpSync(join(from, file), join(this.folder, file));
  }

  /** The text of a page with the ports of this run. */
  localized(text: string): string {
    return text.replaceAll(/\b(?:3000|3001|3002|9464)\b/g, (port) => this.#ports.get(port) ?? port);
  }

  /** Runs a command to its end, and returns all that it prints. Variables that it sets stay for the next one. */
  async run(command: string): Promise<string> {
    const script = `exec 2>&1; ${this.#toScript(command)}\nstatus=$?; declare -p ADA BOB MCP_TOKEN id 2>/dev/null >.variables; exit $status`;
    const { stdout } = await new Promise<{ readonly stdout: string }>((resolve) => {
      execFile('bash', ['-c', script], { cwd: this.folder, env: this.#env() }, (_error, stdout) =>
        resolve({ stdout }),
      );
    });
    return stdout;
  }

  /** Runs a command of a page, and compares what it prints with the page. */
  async expectShown({ command, prints }: Shown): Promise<void> {
    const printed = await this.run(command);
    expect(printed.trim(), command).toMatch(asPattern(this.localized(prints)));
  }

  /** Starts a program that stays. */
  start(command: string, env: Readonly<Record<string, string>> = {}): Terminal {
    const child = spawn(
      'bash',
      ['-c', `exec 2>&1; exec ${this.#toScript(command).replace(/^(?:\w+=\S+ )+/, 'env $&')}`],
      {
        cwd: this.folder,
        env: { ...this.#env(), ...env },
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    let text = '';
    child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    const terminal: Terminal = {
      child,
      printed: () => text,
      async prints(pattern) {
        await until(`${command} prints ${pattern}; it has printed: ${text}`, () => {
          if (child.exitCode !== null && !pattern.test(text))
            throw new Error(`${command} has ended: ${text}`);
          return pattern.test(text);
        });
        return pattern.exec(text) as RegExpExecArray;
      },
      async end(signal = 'SIGTERM') {
        if (child.exitCode === null && child.signalCode === null) {
          const exited = once(child, 'exit');
          child.kill(signal);
          await exited;
        }
        return child.exitCode;
      },
    };
    this.#terminals.push(terminal);
    return terminal;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const terminal of this.#terminals.splice(0)) await terminal.end('SIGKILL');
    rmSync(this.folder, { recursive: true, force: true });
  }

  set(name: string, value: string): void {
    this.#variables[name] = value;
  }

  /** A command for this Node and with the ports of this run. */
  #toScript(command: string): string {
    const local = this.localized(command);
    return stripsTypes
      ? local
      : local.replaceAll(/\bnode (?=(?:--\S+ )*[\w-]+(?:\.test)?\.ts)/g, 'node --import jiti/register ');
  }

  #env(): NodeJS.ProcessEnv {
    const { NODE_OPTIONS: _, CI: __, ...own } = process.env;
    const path = [join(this.folder, 'node_modules/.bin'), dirname(process.execPath), own['PATH']];
    return {
      ...own,
      PATH: path.join(delimiter),
      PORT: this.#ports.get('3000'),
      METRICS_PORT: this.#ports.get('9464'),
      FULLMCP_HOME: join(this.folder, '.home'),
      NO_COLOR: '1',
      BASH_ENV: join(this.folder, '.variables'),
      ...this.#variables,
    };
  }

  #writeProgram(name: string, script: string): void {
    const file = join(this.folder, 'node_modules/.bin', name);
    writeFileSync(file, `#!/bin/sh\n${script}\n`);
    chmodSync(file, 0o755);
  }
}

/** A pattern for the output that a page shows: `…` stands for anything. */
function asPattern(prints: string): RegExp {
  const escaped = prints.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`^${escaped.replaceAll('…', '[\\s\\S]*?')}$`);
}
