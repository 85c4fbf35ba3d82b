// Lists the skills of a server, loads one and reads a file of it.
import type { Client } from 'fullmcp/client';
import { skillsOf } from 'fullmcp/skills';

export async function prepare(client: Client): Promise<readonly string[]> {
  // #region load
  const skills = skillsOf(client);
  const known: string[] = [];
  for await (const { name, description } of skills.list()) known.push(`${name}: ${description}`);

  const skill = await skills.get('skill://release-notes/SKILL.md');
  const instructions = await skill.load();
  const template = await skill.read('templates/minor.md');
  // #endregion
  return [...known, instructions, template.text ?? ''];
}
