// Definitions that come from a folder and from a database.
import { EventEmitter } from 'node:events';
import { createServer, prompt } from 'fullmcp';
import { addCatalog, folder } from 'fullmcp/catalog';
import { z } from 'zod';

// #region folder
export const server = createServer({ name: 'assistant', version: '1.0.0', changes: true });

export async function addComponents(): Promise<void> {
  await addCatalog(server, await folder(new URL('./components', import.meta.url), { watchMs: 500 }));
}
// #endregion

/** Stands for a database that tells its readers of changes. */
export const database = Object.assign(new EventEmitter(), {
  rows: [{ name: 'summarize', text: 'Summarize this' }],
});

// #region database
export async function addPrompts(): Promise<void> {
  await addCatalog(server, {
    load: async () => ({
      prompts: Object.fromEntries(
        database.rows.map(({ name, text }) => [
          name,
          prompt({ args: z.object({ content: z.string() }), run: ({ content }) => `${text}:\n\n${content}` }),
        ]),
      ),
    }),
    watch(onChange) {
      database.on('change', onChange);
      return () => database.off('change', onChange);
    },
  });
}
// #endregion
