import { win32 } from 'node:path';
import { McpError } from '../../../protocol/errors.js';
import { variable } from './child-environment.js';

// Windows starts only programs, and only under their full names: `npx` is a batch file called `npx.cmd`.

export interface CommandSearch {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The folder that relative paths start from. */
  readonly cwd: string;
  readonly isFile: (path: string) => boolean;
}

/**
 * Finds the file of a command: along PATH, with the endings of PATHEXT. The current folder is searched only if the command is a
 * path: a file in it must not replace a program.
 */
export function findWindowsCommand(command: string, search: CommandSearch): string | undefined {
  const { environment, cwd, isFile } = search;
  const endings = (variable(environment, 'PATHEXT', true) || '.COM;.EXE;.BAT;.CMD')
    .split(';')
    .filter(Boolean);
  const folders = /[\\/:]/.test(command)
    ? [cwd]
    : (variable(environment, 'PATH', true) ?? '').split(';').map(stripQuotes).filter(Boolean);
  const extension = win32.extname(command).toLowerCase();
  const names = endings.map((ending) => command + ending.toLowerCase());
  // A file without an ending is not a program: beside `npx.cmd` there is `npx`, a script for other systems.
  if (endings.some((ending) => ending.toLowerCase() === extension)) names.unshift(command);
  for (const folder of folders) {
    for (const name of names) {
      const path = win32.resolve(cwd, folder, name);
      if (isFile(path)) return path;
    }
  }
  return undefined;
}

export interface WindowsStart {
  readonly file: string;
  readonly args: readonly string[];
  /** Whether the arguments are quoted already. */
  readonly verbatim: boolean;
}

/** The way to start a file: programs directly, batch files and others through the command interpreter. */
export function windowsStart(
  file: string,
  args: readonly string[],
  environment: CommandSearch['environment'],
): WindowsStart {
  if (/\.(exe|com)$/i.test(file)) return { file, args, verbatim: false };
  const line = [file, ...args].map(quoteArgument).join(' ');
  return {
    file: systemProgram('cmd.exe', environment),
    // No AutoRun, extensions on and delayed expansion off, whatever the registry says: the quoting relies on it.
    args: ['/d', '/e:on', '/v:off', '/s', '/c', `"${line}"`],
    verbatim: true,
  };
}

/** The full path of a program of Windows: the first of that name on PATH may be another program. */
export function systemProgram(name: string, environment: CommandSearch['environment']): string {
  const root = variable(environment, 'SYSTEMROOT', true);
  return root === undefined ? name : win32.join(root, 'System32', name);
}

/**
 * The interpreter reads the line, and reads it again where the batch file passes the arguments on. Within quotes only quotes and
 * percent signs are special. Quotes are doubled, so that their number is even in both readings. After each percent sign comes
 * an empty substring, so that no variable's name can begin there.
 */
function quoteArgument(argument: string): string {
  if (/[\r\n\0]/.test(argument)) {
    throw new McpError(
      'connect_failed',
      'An argument contains a line break, which cannot be passed to a batch file. Start the program itself.',
    );
  }
  let text = '';
  let backslashes = 0;
  for (const character of argument) {
    if (character === '"') text += `${'\\'.repeat(backslashes)}"`;
    backslashes = character === '\\' ? backslashes + 1 : 0;
    text += character === '%' ? '%%cd:~,%' : character;
  }
  return `"${text}${'\\'.repeat(backslashes)}"`;
}

function stripQuotes(folder: string): string {
  return folder.trim().replaceAll('"', '');
}
