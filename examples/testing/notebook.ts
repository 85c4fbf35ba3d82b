import { createServer, image, resource, text, tool } from 'fullmcp';
import { z } from 'zod';

const notes = new Map([['note://a', 'eggs']]);
const pixel = new Uint8Array([137, 80, 78, 71]);

export default createServer({
  name: 'notebook',
  version: '1.0.0',
  changes: ['resource', 'tools'],
  resources: { 'note://a': resource({ read: () => notes.get('note://a') }) },
  tools: {
    write: tool({
      input: z.object({ line: z.string() }),
      run: ({ line }, ctx) => {
        if (notes.get('note://a') === line) return 'nothing new';
        notes.set('note://a', line);
        ctx.changed.resource('note://a');
        return 'written';
      },
    }),
    draw: tool({ run: () => [text('A dot:'), image(pixel, 'image/png')] }),
  },
});
