// All commands, by what they are for. Only these tables are loaded before a command is known.

import type { CommandSummary } from './command/definition.js';
import type { CommandGroups } from './command/help.js';
import { auth } from './groups/auth.js';
import { check } from './groups/check.js';
import { hosts } from './groups/hosts.js';
import { operate } from './groups/operate.js';
import { project } from './groups/project.js';
import { share } from './groups/share.js';
import { use } from './groups/use.js';

export const commandGroups: CommandGroups = {
  'Write a server': project,
  'Use a server': use,
  'Check a server': check,
  'Give it to others': share,
  'Give it to a host': hosts,
  'Operate it': operate,
  'Log in': auth,
};

export const allCommands: readonly CommandSummary[] = Object.values(commandGroups).flat();
