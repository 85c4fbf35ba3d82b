import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { createServer, image, ToolError, tool } from 'fullmcp';
import { z } from 'zod';

const folder = process.env['PICTURES'] ?? 'pictures';

export default createServer({
  name: 'album',
  version: '1.0.0',
  tools: {
    show_picture: tool({
      description: 'Show a picture of the album',
      input: z.object({ name: z.string().regex(/^[\w-]{1,64}$/) }), // a name, and never a path
      annotations: { readOnly: true },
      async run({ name }) {
        const bytes = await readFile(join(folder, `${name}.png`)).catch(() => {
          throw new ToolError(`There is no picture with the name ${name}.`);
        });
        return [image(bytes, 'image/png'), `${name}.png, ${bytes.length} bytes`];
      },
    }),
  },
});
