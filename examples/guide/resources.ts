import { createServer, resource } from 'fullmcp';

const users = new Map([
  ['ada', { name: 'Ada', born: 1815 }],
  ['alan', { name: 'Alan', born: 1912 }],
]);

export default createServer({
  name: 'guide-resources',
  version: '1.0.0',
  // #region resources
  resources: {
    'config://app': resource({ title: 'Settings', read: () => ({ debug: true }) }),
    'logo://small': resource({ mimeType: 'image/png', read: () => new Uint8Array([137, 80, 78, 71]) }),
    'users://{id}/profile': resource({
      title: 'A profile',
      list: () => [...users].map(([id, { name }]) => ({ uri: `users://${id}/profile`, name })),
      complete: { id: (typed) => [...users.keys()].filter((id) => id.startsWith(typed)) },
      read: ({ id }) => users.get(String(id)),
      ttlMs: 60_000,
    }),
  },
  // #endregion
});
