// The skills in a folder, as an extension of a server.

import { every } from '../../../async/every.js';
import {
  type SkillsExtension,
  type SkillsOptions,
  skillsExtension,
} from '../../../extensions/skills/skills-extension.js';
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

/** Reads a folder of skills. */
export async function folderSkills(folder: string, options: SkillFolderOptions): Promise<SkillsExtension> {
  const { watchMs } = options;
  if (watchMs !== undefined && !(watchMs >= 10 && watchMs <= 86_400_000))
    throw new RangeError('watchMs must be a number from 10 to 86400000.');
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
