// The result of a tool as parts that the APIs of models know: text, images and files.

import type { ContentBlock } from '../../protocol/model/content.js';
import type { ToolAnswer } from '../model/results.js';

/** A part of a result. */
export type ResultPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image'; readonly data: string; readonly mimeType: string }
  | { readonly type: 'file'; readonly data: string; readonly mimeType: string; readonly name: string };

const IMAGES = ['image/jpeg', 'image/png', 'image/gif', 'image/webp'];
const PDF = 'application/pdf';

/** The parts of a result, at least one. Content that no API takes is described in a sentence. */
export function resultParts({ content, data }: ToolAnswer): ResultPart[] {
  const parts = content.map(toPart);
  if (parts.length > 0) return parts;
  return [{ type: 'text', text: data === undefined ? '(no content)' : JSON.stringify(data) }];
}

function toPart(block: ContentBlock): ResultPart {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: block.text };
    case 'image':
      return binary(block.data, block.mimeType, 'image');
    case 'audio':
      return leftOut('audio', block.mimeType);
    case 'resource_link': {
      const { title, name, uri, description } = block;
      const about = description === undefined ? '' : `: ${description}`;
      return { type: 'text', text: `[${title ?? name}](${uri})${about}` };
    }
    case 'resource': {
      const { resource } = block;
      if ('text' in resource) return { type: 'text', text: resource.text };
      return binary(resource.blob, resource.mimeType ?? 'application/octet-stream', resource.uri);
    }
    default:
      // A newer server may send a kind of content that this version does not know.
      return { type: 'text', text: JSON.stringify(block) };
  }
}

function binary(data: string, mimeType: string, name: string): ResultPart {
  if (IMAGES.includes(mimeType)) return { type: 'image', data, mimeType };
  return mimeType === PDF ? { type: 'file', data, mimeType, name } : leftOut(name, mimeType);
}

/** A sentence in place of content. */
export function leftOut(name: string, mimeType: string): ResultPart {
  return { type: 'text', text: `(${name}, ${mimeType}, cannot be shown here)` };
}
