// Skills from memory, for servers without a file system.
import { createServer } from 'fullmcp';
import { skillsFrom } from 'fullmcp/skills';

// #region memory
const notes = await skillsFrom({
  'taking-notes': {
    'SKILL.md':
      '---\nname: taking-notes\ndescription: Takes notes in a meeting.\n---\nWrite short sentences.',
    'examples/weekly.md': '# Weekly\n',
  },
});

export const server = createServer({ name: 'notes', version: '1.0.0', extensions: [notes] });
// #endregion
