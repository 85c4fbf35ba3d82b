const kept = new Map<string, string>([['1', 'Buy milk']]);
let last = 1;

/** Notes, kept as long as the process lives. */
export const notes = {
  add(text: string): string {
    last++;
    kept.set(String(last), text);
    return String(last);
  },
  get: (id: string): string | undefined => kept.get(id),
  ids: (): string[] => [...kept.keys()],
  all: (): object[] => [...kept].map(([id, text]) => ({ id, text })),
};
