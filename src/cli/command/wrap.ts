/** Longer lines are hard to read, however wide the terminal is. */
const MAX_WIDTH = 100;
const MIN_WIDTH = 40;

/** Breaks paragraphs, which are separated by empty lines, at the width of the terminal. Later lines begin with `indent`. */
export function wrap(text: string, columns: number, indent = ''): string {
  const width = Math.max(MIN_WIDTH, Math.min(MAX_WIDTH, columns || MAX_WIDTH));
  return text
    .split('\n\n')
    .map((paragraph) => wrapParagraph(paragraph, width, indent))
    .join('\n\n');
}

function wrapParagraph(text: string, width: number, indent: string): string {
  const [, first = ''] = /^( *)/.exec(text) ?? [];
  const lines: string[] = [];
  let line = first;
  for (const word of text.trim().split(/[ \n]+/)) {
    const isStart = line.trim() === '';
    if (!isStart && line.length + 1 + word.length > width) {
      lines.push(line);
      line = indent + word;
    } else line += isStart ? word : ` ${word}`;
  }
  return [...lines, line].join('\n');
}
