// The words of a name, and whether they say that something is read or changed.

export type EffectOfWord = 'read' | 'write' | undefined;

const READS = new Set(
  'get list find search read fetch show view query lookup look describe count check download export summarize explain compare validate preview status browse'.split(
    ' ',
  ),
);
const WRITES = new Set(
  'create add insert delete remove update set write edit send post put patch move rename upload publish cancel archive approve reject assign merge close reopen import pay transfer charge order book buy install deploy restart stop start'.split(
    ' ',
  ),
);
const MAX_NAME = 1000;

/** The words of a name such as `send_mail`, `sendMail` or `Send mail`, in lower case. */
export function wordsOf(name: string): readonly string[] {
  return name
    .slice(0, MAX_NAME)
    .replaceAll(/(?<=[a-z0-9])(?=[A-Z])/g, ' ')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '');
}

/** The effect of an operation, as far as a word says it. */
export function effectOf(word: string): EffectOfWord {
  if (READS.has(word)) return 'read';
  return WRITES.has(word) ? 'write' : undefined;
}
