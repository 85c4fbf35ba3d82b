// Single keys that a person presses while a command runs.

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import process from 'node:process';
import { emitKeypressEvents } from 'node:readline';
import type { Person } from './person.js';

interface Key {
  readonly name?: string;
  readonly ctrl?: boolean;
}

/** The part of a keyboard that a terminal has and a pipe has not. */
type Keyboard = Person['input'] & { setRawMode?: (isRaw: boolean) => unknown };

/** Calls the function of each key that is pressed, until the returned function is called. Ctrl+C stays what it is. */
export function onKeys(person: Person, actions: Readonly<Record<string, () => void>>): () => void {
  const keyboard = person.input as Keyboard;
  const press = (_text: unknown, { name = '', ctrl = false }: Key = {}): void => {
    // The terminal makes no signal of it while single keys are read.
    if (ctrl && name === 'c') return person.interrupt();
    if (!ctrl && Object.hasOwn(actions, name)) actions[name]?.();
  };
  emitKeypressEvents(keyboard);
  keyboard.setRawMode?.(true);
  keyboard.on('keypress', press);
  keyboard.resume();
  return () => {
    keyboard.off('keypress', press);
    keyboard.setRawMode?.(false);
    keyboard.pause();
  };
}

/**
 * Whether the terminal belongs to this process. A program in the background (`fullmcp dev server.ts &`) is stopped by the system as soon as it
 * reads keys.
 */
export function isInForeground(): boolean {
  if (process.platform === 'win32') return true;
  try {
    const [group, foreground] = groups();
    return group === foreground;
  } catch {
    return false;
  }
}

/** The group of this process, and the one in the foreground of its terminal. */
function groups(): readonly [string | undefined, string | undefined] {
  if (process.platform === 'linux') {
    // The name of the program, which may have spaces, is in parentheses; state, parent, group, session, terminal and foreground follow.
    const fields = (readFileSync('/proc/self/stat', 'utf8').split(') ').at(-1) ?? '').split(' ');
    return [fields[2], fields[5]];
  }
  const line = ['-o', 'pgid=,tpgid=', '-p', String(process.pid)];
  const { stdout } = spawnSync('ps', line, { encoding: 'utf8', timeout: 2000 });
  const [group, foreground] = stdout.trim().split(/\s+/);
  return [group, foreground];
}
