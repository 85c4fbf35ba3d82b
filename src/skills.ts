// The entry `fullmcp/skills`: serves skills, and reads those of a server.

import type { SkillFolderOptions } from './adapters/node/skills/skills.js';
import type { SkillsExtension } from './extensions/skills/skills-extension.js';

export type { SkillFolderOptions } from './adapters/node/skills/skills.js';
export { type Skill, type SkillContent, type Skills, skillsOf } from './client/skills/skills-of.js';
export type { SkillFiles, SkillProblem } from './extensions/skills/skill-set.js';
export {
  SkillsError,
  type SkillsExtension,
  type SkillsOptions,
  skillsFrom,
} from './extensions/skills/skills-extension.js';
export type { Frontmatter, SkillEntry, SkillFile } from './protocol/model/skills/skill.js';

/**
 * Serves the skills in a folder: every folder in it that has a `SKILL.md`. The files are read now; later changes need `reload()` or
 * `watchMs`. Rejects with a `SkillsError` that names all mistakes, each with its file and line. Needs Node.
 *
 * @example
 * createServer({ name: 'docs', version: '1.0.0', extensions: [await skills('./skills')] });
 */
export async function skills(folder: string, options: SkillFolderOptions = {}): Promise<SkillsExtension> {
  const { folderSkills } = await import('./adapters/node/skills/skills.js');
  return folderSkills(folder, options);
}
