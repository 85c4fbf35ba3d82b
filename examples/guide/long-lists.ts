import { createServer, resource } from 'fullmcp';

interface Note {
  readonly id: number;
  readonly title: string;
}

/** Stands for a database. */
const notes: readonly Note[] = Array.from({ length: 2500 }, (_, at) => ({
  id: at + 1,
  title: `Note ${at + 1}`,
}));
const db = {
  async *files() {
    for (const { id } of notes) yield `${id}.md`;
  },
  notesAfter: async (id: number, limit: number) => notes.filter((note) => note.id > id).slice(0, limit),
};

export default createServer({
  name: 'guide-long-lists',
  version: '1.0.0',
  // #region lists
  resources: {
    'files://{name}': resource({
      async *list() {
        for await (const name of db.files()) yield `files://${name}`;
      },
      read: ({ name }) => `The text of ${String(name)}`,
    }),
    'notes://{id}': resource({
      async list(_ctx, { cursor = '0', limit }) {
        const page = await db.notesAfter(Number(cursor), limit);
        return {
          entries: page.map(({ id, title }) => ({ uri: `notes://${id}`, name: title })),
          next: page.length === limit ? String(page.at(-1)?.id) : undefined,
        };
      },
      read: ({ id }) => `Note ${String(id)}`,
    }),
  },
  // #endregion
});
