// A server with skills: instructions for the model, which travel with the tools that they are about.
import { createServer, tool } from 'fullmcp';
import { skills } from 'fullmcp/skills';

// #region serve
export const server = createServer({
  name: 'releases',
  version: '1.0.0',
  tools: { changes: tool({ description: 'Merged changes', run: () => ['Faster start', 'New theme'] }) },
  extensions: [await skills('./examples/skills/skills')],
});
// #endregion
