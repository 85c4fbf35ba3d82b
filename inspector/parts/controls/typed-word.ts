import { useRef } from 'preact/hooks';

/** Letters that follow each other faster than this are one word. */
const WORD_MS = 700;

/**
 * Finds what begins with the word that is being typed. The search begins at `from`; a new word is looked for after it, so that a letter typed
 * again finds the next one. Returns -1 if nothing begins so.
 */
export function useTypedWord(): (
  letter: string,
  from: number,
  items: { readonly count: number; readonly begins: (index: number, word: string) => boolean },
) => number {
  const typed = useRef({ text: '', at: 0 });
  return (letter, from, { count, begins }) => {
    const { text, at } = typed.current;
    const now = Date.now();
    const word = `${now - at < WORD_MS ? text : ''}${letter.toLowerCase()}`;
    typed.current = { text: word, at: now };
    const first = word.length === 1 ? from + 1 : from;
    for (let step = 0; step < count; step++) {
      const index = (first + step + count) % count;
      if (begins(index, word)) return index;
    }
    return -1;
  };
}
