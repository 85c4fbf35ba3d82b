import type { ComponentChildren, VNode } from 'preact';
import { WebLink, webAddress } from '../../controls/web-link.js';

const MAX_DEPTH = 4;
const MAX_PIECES = 2000;

/** The marks inside a line of Markdown: code, bold, italic, struck, links. Each mark looks for its end once. */
export function Inline({ text, depth = 0 }: { readonly text: string; readonly depth?: number }): VNode {
  return <>{piecesOf(text, depth)}</>;
}

function piecesOf(text: string, depth: number): ComponentChildren[] {
  const pieces: ComponentChildren[] = [];
  // A mark without an end is looked for only once, so that many of them do not cost a walk each.
  const endless = new Set<string>();
  let plain = '';
  let at = 0;
  const push = (piece: ComponentChildren) => {
    if (plain) pieces.push(plain);
    plain = '';
    pieces.push(piece);
  };
  const inside = (mark: string): string | undefined => {
    if (endless.has(mark) || depth >= MAX_DEPTH || pieces.length > MAX_PIECES) return undefined;
    const end = text.indexOf(mark, at + mark.length);
    if (end < 0) endless.add(mark);
    return end <= at + mark.length ? undefined : text.slice(at + mark.length, end);
  };
  while (at < text.length) {
    const character = text[at];
    const mark = markAt(text, at);
    const content = mark === undefined ? undefined : inside(mark);
    if (mark !== undefined && content !== undefined) {
      push(marked(mark, content, depth));
      at += content.length + mark.length * 2;
      continue;
    }
    const link = character === '[' && depth < MAX_DEPTH ? linkAt(text, at) : undefined;
    if (link) {
      push(<WebLink href={link.href}>{link.text || link.href}</WebLink>);
      at = link.end;
    } else if (character === 'h' && text.startsWith('http', at) && isWordStart(text, at)) {
      const end = endOfAddress(text, at);
      const href = text.slice(at, end);
      if (webAddress(href)) push(<WebLink href={href}>{href}</WebLink>);
      else plain += href;
      at = end;
    } else if (character === '\\' && '\\`*_[]#'.includes(text[at + 1] ?? ' ')) {
      plain += text[at + 1];
      at += 2;
    } else {
      plain += character;
      at++;
    }
  }
  if (plain) pieces.push(plain);
  return pieces;
}

function markAt(text: string, at: number): string | undefined {
  if (text[at] === '`') return '`';
  if (text.startsWith('**', at)) return '**';
  if (text.startsWith('~~', at)) return '~~';
  const character = text[at];
  const next = text[at + 1] ?? ' ';
  if (character === '*' && next !== ' ') return '*';
  // Inside a word, as in order_pizza, it is a letter.
  return character === '_' && next !== ' ' && isWordStart(text, at) ? '_' : undefined;
}

function marked(mark: string, content: string, depth: number): VNode {
  if (mark === '`') return <code>{content}</code>;
  const inner = <Inline text={content} depth={depth + 1} />;
  if (mark === '**') return <strong>{inner}</strong>;
  return mark === '~~' ? <s>{inner}</s> : <em>{inner}</em>;
}

function linkAt(text: string, at: number): { href: string; text: string; end: number } | undefined {
  const within = text.slice(at, at + 2500);
  const middle = within.indexOf('](');
  const end = middle < 0 ? -1 : within.indexOf(')', middle);
  if (end < 0 || within.slice(1, middle).includes('[')) return undefined;
  const [href = ''] = within
    .slice(middle + 2, end)
    .trim()
    .split(' ', 1);
  return webAddress(href) ? { href, text: within.slice(1, middle), end: at + end + 1 } : undefined;
}

function isWordStart(text: string, at: number): boolean {
  const before = text[at - 1];
  return before === undefined || !/[\p{L}\p{N}]/u.test(before);
}

function endOfAddress(text: string, at: number): number {
  let end = at;
  while (end < text.length && end - at < 2000 && !' \n\t<>"`)]'.includes(text[end] ?? ' ')) end++;
  while (end > at && '.,;:!?'.includes(text[end - 1] ?? '')) end--;
  return end;
}
