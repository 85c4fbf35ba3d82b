// Saves a skill of a server in a folder.
import type { Client } from 'fullmcp/client';
import { saveSkill, skillsOf } from 'fullmcp/skills';

export async function keep(client: Client, folder: string): Promise<string> {
  // #region save
  const skill = await skillsOf(client).get('skill://release-notes/SKILL.md');
  const path = await saveSkill(skill, folder);
  // #endregion
  return path;
}
