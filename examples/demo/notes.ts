export interface Notes {
  add(text: string): string;
  get(id: string): string | undefined;
  ids(): string[];
  all(): object[];
}

/** Notes in memory. They are lost when the process ends. */
export function createNotes(): Notes {
  const entries = new Map<string, string>([['1', 'Buy milk']]);
  let last = 1;
  return {
    add(text) {
      last++;
      entries.set(String(last), text);
      return String(last);
    },
    get: (id) => entries.get(id),
    ids: () => [...entries.keys()],
    all: () => [...entries].map(([id, text]) => ({ id, text })),
  };
}
