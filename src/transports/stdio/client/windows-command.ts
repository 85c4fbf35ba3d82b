import { win32 } from 'node:path';
import { McpError } from '../../../protocol/errors.js';
import { variable } from './child-environment.js';

// Windows starts only programs, and only under their full names: `npx` is a batch file called `npx.cmd`.

export interface CommandSearch {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Where relative paths begin. */
  readonly cwd: string;
  readonly isFile: (path: string) => boolean;
}

/**
 * The file that a command means: along PATH, with the endings of PATHEXT. The current folder is not searched unless the command
 * says so: a file that was put there must not take the place of a program.
 */
export function findWindowsCommand(command: string, search: CommandSearch): string | undefined {
  const { environment, cwd, isFile } = search;
  const endings = (variable(environment, 'PATHEXT', true) || '.COM;.EXE;.BAT;.CMD')
    .split(';')
    .filter(Boolean);
  const folders = /[\\/:]/.test(command)
    ? [cwd]
    : (variable(environment, 'PATH', true) ?? '').split(';').map(unquoted).filter(Boolean);
  const own = win32.extname(command).toLowerCase();
  const names = endings.map((ending) => command + ending.toLowerCase());
  // A file without an ending is not a program: beside `npx.cmd` there is `npx`, a script for other systems.
  if (endings.some((ending) => ending.toLowerCase() === own)) names.unshift(command);
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
  /** The arguments are quoted already. */
  readonly verbatim: boolean;
}

/** How a file that was found is started: programs directly, batch files and the rest through the command interpreter. */
export function windowsStart(
  file: string,
  args: readonly string[],
  environment: CommandSearch['environment'],
): WindowsStart {
  if (/\.(exe|com)$/i.test(file)) return { file, args, verbatim: false };
  const line = [file, ...args].map(quoted).join(' ');
  return {
    file: systemProgram('cmd.exe', environment),
    // No AutoRun, extensions on and delayed expansion off, whatever the registry says: the quoting relies on it.
    args: ['/d', '/e:on', '/v:off', '/s', '/c', `"${line}"`],
    verbatim: true,
  };
}

/** A program of Windows itself, by its full path: the first of that name on PATH may be another. */
export function systemProgram(name: string, environment: CommandSearch['environment']): string {
  const root = variable(environment, 'SYSTEMROOT', true);
  return root === undefined ? name : win32.join(root, 'System32', name);
}

/**
 * The interpreter reads the line, and then again in the batch file where the arguments are handed on. Within quotes only
 * quotes and percent signs mean anything to it: quotes are doubled, so that their number stays even for either reading, and
 * after each percent sign stands a substring that is empty, so that no variable's name can begin there.
 */
function quoted(argument: string): string {
  if (/[\r\n\0]/.test(argument)) {
    throw new McpError(
      'connect_failed',
      'An argument has a line break in it, and a batch file cannot be given one. Start the program itself.',
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

function unquoted(folder: string): string {
  return folder.trim().replaceAll('"', '');
}
