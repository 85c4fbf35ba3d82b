const entries = new Map<string, string>([['1', 'Buy milk']]);
let last = 1;

/** Notes in memory. They are lost when the process ends. */
export const notes = {
  add(text: string): string {
    last++;
    entries.set(String(last), text);
    return String(last);
  },
  get: (id: string): string | undefined => entries.get(id),
  ids: (): string[] => [...entries.keys()],
  all: (): object[] => [...entries].map(([id, text]) => ({ id, text })),
};
