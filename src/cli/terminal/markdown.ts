// Markdown with colours. No character is taken away: everything that a server wrote can be read and copied.

import { clean } from '../../tooling/clean.js';
import type { Output } from './output.js';

const MAX_CHARS = 1_000_000;
const HEADING = /^ {0,3}#{1,6} /;
const FENCE = /^ {0,3}(?:```|~~~)/;
/** Code and bold text within a line. Neither can begin inside of the other. */
const INLINE = /`[^`\n]{1,500}`|\*\*[^*\n]{1,500}\*\*/g;

/** Whether text is Markdown: it says so, or has a heading, a fence or bold text. */
export function isMarkdown(text: string, mimeType = ''): boolean {
  if (text.length > MAX_CHARS) return false;
  if (/^text\/(?:x-)?markdown\b/i.test(mimeType)) return true;
  return text.split('\n').some((line) => HEADING.test(line) || FENCE.test(line) || /\*\*\w/.test(line));
}

/** The same lines, with headings and bold text in bold, code in colour and quotes dimmed. */
export function markdownStyled(text: string, out: Output): string {
  let isCode = false;
  return text
    .replaceAll('\r\n', '\n')
    .split('\n')
    .map((line) => {
      if (FENCE.test(line)) {
        isCode = !isCode;
        return out.style('dim', line);
      }
      if (isCode) return out.style('cyan', line);
      if (HEADING.test(line)) return out.style('bold', line);
      return /^ {0,3}>/.test(line) ? out.style('dim', line) : inline(line, out);
    })
    .join('\n');
}

function inline(line: string, out: Output): string {
  let styled = '';
  let end = 0;
  for (const { 0: found, index } of line.matchAll(INLINE)) {
    styled += clean(line.slice(end, index));
    styled += out.style(found.startsWith('`') ? 'cyan' : 'bold', found);
    end = index + found.length;
  }
  return styled + clean(line.slice(end));
}
