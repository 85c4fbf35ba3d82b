import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

// The pages of the tutorial as their tests read them.

export const root: string = fileURLToPath(new URL('../../../', import.meta.url));

/** The pages in their order. The program of each is in the folder of the same name in examples/tracker. */
export const pages = [
  '1-tools',
  '2-resources',
  '3-ask',
  '4-task',
  '5-users',
  '6-tests',
  '7-processes',
  '8-operate',
] as const;

export type PageName = (typeof pages)[number];

/** A block of code: its language, its text, and the file and region that the comment above it names. */
export interface Block {
  readonly language: string;
  readonly text: string;
  readonly file?: string | undefined;
  readonly region?: string | undefined;
}

/** A command of a page and what it prints. */
export interface Shown {
  readonly command: string;
  readonly prints: string;
}

export function readPage(name: PageName | 'index'): string {
  return readFileSync(`${root}docs/learn/${name}.md`, 'utf8');
}

/** The part of a page below a heading. */
export function section(name: PageName, heading: string): string {
  const parts = readPage(name).split(/^## /m);
  const found = parts.find((part) => part.startsWith(`${heading}\n`));
  if (found === undefined) throw new Error(`docs/learn/${name}.md has no heading "${heading}"`);
  return found;
}

/** The blocks of code in Markdown. */
export function blocksOf(text: string): readonly Block[] {
  const blocks = text.matchAll(/(?:^<!-- snippet: ([^#\s]+)(?:#(\S+))? -->\n)?^```(\w*)\n([\s\S]*?)^```$/gm);
  return [...blocks].map(([, file, region, language = '', body = '']) => ({
    language,
    text: body,
    file,
    region,
  }));
}

/** The commands below a heading. */
export function commandsOf(name: PageName, heading: string): readonly string[] {
  return blocksOf(section(name, heading))
    .filter(({ language }) => language === 'bash')
    .map(({ text }) => text.trim());
}

/** The commands below "Check", each with what it prints. A command without output is not followed by a `text` block. */
export function checksOf(name: PageName): readonly Shown[] {
  const blocks = blocksOf(section(name, 'Check'));
  return blocks.flatMap(({ language, text }, index) => {
    if (language !== 'bash') return [];
    const next = blocks[index + 1];
    return [{ command: text.trim(), prints: next?.language === 'text' ? next.text.trim() : '' }];
  });
}
