// The skills in a folder, as an extension of a server.

import { every } from '../../../async/every.js';
import {
  type SkillsExtension,
  type SkillsOptions,
  skillsExtension,
  skillsTable,
} from '../../../extensions/skills/skills-extension.js';
import { type OptionTable, readOptions } from '../../../protocol/checks/options.js';
import type { ExtensionHost } from '../../../server/define/extension.js';
import { readSkillFolder } from './read-folder.js';

/** The options for the skills in a folder. */
export interface SkillFolderOptions extends SkillsOptions {
  /**
   * Reads the folder again in this interval, in milliseconds, while a server is running, and announces changes. Default: the folder is
   * read once, and again with `reload()`.
   */
  readonly watchMs?: number;
}

const optionTable = {
  ...skillsTable,
  watchMs: { is: 'ms', min: 10, max: 86_400_000 },
} as const satisfies OptionTable<SkillFolderOptions>;

/** Reads a folder of skills. */
export async function folderSkills(folder: string, options: SkillFolderOptions): Promise<SkillsExtension> {
  const { watchMs } = readOptions('skills', options, optionTable);
  const made = await skillsExtension(() => readSkillFolder(folder, options.prefix), options);
  if (watchMs === undefined) return made;
  return {
    ...made,
    attach(host: ExtensionHost) {
      made.attach?.(host);
      const stop = every(watchMs, () => made.reload(), {
        onError: (error) => host.log('error', 'The skills could not be read', error),
      });
      host.attach({ close: async () => stop() });
    },
  };
}
