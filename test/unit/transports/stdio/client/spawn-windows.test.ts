import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { childEnvironment } from '../../../../../src/transports/stdio/client/child-environment.js';
import {
  findWindowsCommand,
  windowsStart,
} from '../../../../../src/transports/stdio/client/windows-command.js';

// Behaviour of Windows, as far as it can be tested on any system.

describe('a command on Windows', () => {
  const files = new Set(
    [
      'C:\\nodejs\\npx',
      'C:\\nodejs\\npx.cmd',
      'C:\\nodejs\\node.exe',
      'C:\\Program Files\\tools\\node.exe',
      'C:\\Program Files\\tools\\server.v2.exe',
      'C:\\work\\planted.exe',
      'C:\\work\\bin\\local.bat',
    ].map((path) => path.toLowerCase()),
  );
  const find = (command: string, variables: Record<string, string> = {}) =>
    findWindowsCommand(command, {
      environment: {
        Path: 'C:\\nodejs;"C:\\Program Files\\tools";;',
        PathExt: '.COM;.EXE;.BAT;.CMD',
        ...variables,
      },
      cwd: 'C:\\work',
      isFile: (path) => files.has(path.toLowerCase()),
    });

  test.each([
    ['npx', 'C:\\nodejs\\npx.cmd'],
    ['npx.cmd', 'C:\\nodejs\\npx.cmd'],
    ['NPX.CMD', 'C:\\nodejs\\NPX.CMD'],
    ['node', 'C:\\nodejs\\node.exe'],
    ['server.v2', 'C:\\Program Files\\tools\\server.v2.exe'],
    ['.\\bin\\local', 'C:\\work\\bin\\local.bat'],
    ['bin/local.bat', 'C:\\work\\bin\\local.bat'],
    ['C:\\nodejs\\node', 'C:\\nodejs\\node.exe'],
  ])('is found in PATH or by its path: %s at %s', (command, path) => expect(find(command)).toBe(path));

  test('is not found in the current folder, unless it has a path', () => {
    expect(find('planted')).toBeUndefined();
    expect(find('.\\planted')).toBe('C:\\work\\planted.exe');
  });

  test('is found with the extensions of PATHEXT, or with the usual ones', () => {
    expect(find('npx', { PathExt: '.EXE' })).toBeUndefined();
    expect(find('npx', { PathExt: '' })).toBe('C:\\nodejs\\npx.cmd');
    expect(find('node', { Path: '' })).toBeUndefined();
  });
});

describe('a batch file', () => {
  const environment = { SystemRoot: 'C:\\Windows' };

  test('is run by the command interpreter, but a program is not', () => {
    expect(windowsStart('C:\\a\\node.EXE', ['a b'], environment)).toEqual({
      file: 'C:\\a\\node.EXE',
      args: ['a b'],
      verbatim: false,
    });
    expect(
      windowsStart('C:\\my dir\\npx.cmd', ['-y', 'a&b', '50%', 'say "hi"', 'C:\\x\\'], environment),
    ).toEqual({
      file: 'C:\\Windows\\System32\\cmd.exe',
      args: [
        '/d',
        '/e:on',
        '/v:off',
        '/s',
        '/c',
        '""C:\\my dir\\npx.cmd" "-y" "a&b" "50%%cd:~,%" "say ""hi""" "C:\\x\\\\""',
      ],
      verbatim: true,
    });
  });

  test('gets any arguments unchanged, and none of them is run as a command', () => {
    const piece = fc.constantFrom(
      '"',
      '\\',
      '%',
      '&',
      '|',
      '^',
      ' ',
      '!',
      '<',
      '>',
      '%PATH%',
      'a',
      'é',
      "'",
      '(',
    );
    const argument = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''));
    fc.assert(
      fc.property(fc.array(argument, { maxLength: 4 }), (args) => {
        const { args: line } = windowsStart('x.cmd', args, environment);
        const inner = (line.at(-1) as string).slice(1, -1);
        // Every percent sign is one of ours, and the variable between them is empty.
        const expanded = inner.replaceAll('%cd:~,%', '');
        expect(inner.split('%').length - 1).toBe(3 * (expanded.split('%').length - 1));
        expect(commandsIn(expanded)).toEqual([]);
        expect(argumentsIn(expanded)).toEqual(['x.cmd', ...args]);
      }),
    );
  });

  test('cannot get a line break', () => {
    expect(() => windowsStart('x.cmd', ['a\nb'], environment)).toThrow(
      'which cannot be passed to a batch file',
    );
  });
});

/** The characters that the interpreter would treat as special outside quotes. */
function commandsIn(line: string): string[] {
  let inQuotes = false;
  return [...line].filter((character) => {
    if (character === '"') inQuotes = !inQuotes;
    return !inQuotes && '&|<>^()'.includes(character);
  });
}

/** Splits a command line as a program's runtime does. */
function argumentsIn(line: string): string[] {
  const words: string[] = [];
  let at = 0;
  while (at < line.length) {
    let text = '';
    let inQuotes = false;
    for (; at < line.length && (inQuotes || line[at] !== ' '); at++) {
      let backslashes = 0;
      for (; line[at] === '\\'; at++) backslashes++;
      if (line[at] !== '"') {
        text += '\\'.repeat(backslashes);
        if (at >= line.length || (!inQuotes && line[at] === ' ')) break;
        text += line[at];
        continue;
      }
      text += '\\'.repeat(backslashes >> 1);
      if (backslashes % 2 === 1) text += '"';
      else if (inQuotes && line[at + 1] === '"') {
        text += '"';
        at++;
      } else inQuotes = !inQuotes;
    }
    words.push(text);
    at++;
  }
  return words;
}

describe('the environment of a process', () => {
  test('has safe variables alone, with case-insensitive names on Windows, and configured values replace others', () => {
    const inherited = {
      Path: 'C:\\a',
      SystemRoot: 'C:\\Windows',
      Secret: 's',
      TEMP: 'T',
      USERNAME: '() { x',
    };
    expect(childEnvironment({ inherited, overrides: { PATH: 'C:\\b' }, windows: true })).toEqual({
      SystemRoot: 'C:\\Windows',
      TEMP: 'T',
      PATH: 'C:\\b',
    });
  });

  test('has safe variables alone, with case-sensitive names, on other systems', () => {
    const inherited = {
      PATH: '/bin',
      Path: 'x',
      LC_CTYPE: 'C',
      LANG: 'de',
      AWS_SECRET_ACCESS_KEY: 's',
      TZ: undefined,
    };
    expect(childEnvironment({ inherited, overrides: undefined, windows: false })).toEqual({
      PATH: '/bin',
      LC_CTYPE: 'C',
      LANG: 'de',
    });
  });
});
