// #region component
import { tool } from 'fullmcp';
import { z } from 'zod';

// The name of the file is the name of the tool.
export default tool({
  description: 'Greets a person',
  input: z.object({ name: z.string() }),
  run: ({ name }) => `Hello, ${name}`,
});
// #endregion
