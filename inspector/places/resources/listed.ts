// Resources and templates as a server lists them. Nothing in them can be relied on.

import { isObject, type JsonObject } from '../../../src/jsonrpc/message.js';
import { cleanLine } from '../../../src/tooling/clean.js';

export interface Listed {
  /** The URI, or the template. */
  readonly uri: string;
  readonly isTemplate: boolean;
  readonly name: string;
  /** The title, or the name if there is none. */
  readonly title: string;
  readonly description?: string;
  readonly mimeType?: string;
  readonly size?: number;
  readonly annotations: readonly string[];
}

export function listedOf(entry: JsonObject): Listed | undefined {
  const template = stringIn(entry, 'uriTemplate');
  const uri = template ?? stringIn(entry, 'uri');
  if (uri === undefined) return undefined;
  const name = stringIn(entry, 'name') ?? uri;
  const description = stringIn(entry, 'description');
  const mimeType = stringIn(entry, 'mimeType');
  const size = entry['size'];
  return {
    uri,
    isTemplate: template !== undefined,
    name,
    title: stringIn(entry, 'title') ?? name,
    ...(description !== undefined && { description }),
    ...(mimeType !== undefined && { mimeType }),
    ...(typeof size === 'number' && size >= 0 && { size }),
    annotations: annotationsOf(entry['annotations']),
  };
}

/** As in `for the user`, `priority 0.8`, `changed 2026-11-17`. */
function annotationsOf(annotations: unknown): readonly string[] {
  if (!isObject(annotations)) return [];
  const { audience, priority, lastModified } = annotations;
  return [
    ...(Array.isArray(audience) && audience.length > 0
      ? [`for the ${cleanLine(audience.slice(0, 5).join(' and the '), 60)}`]
      : []),
    ...(typeof priority === 'number' ? [`priority ${priority}`] : []),
    ...(typeof lastModified === 'string'
      ? [`changed ${cleanLine(lastModified.slice(0, 16).replace('T', ' '), 20)}`]
      : []),
  ];
}

export function stringIn(object: JsonObject, key: string): string | undefined {
  const value = object[key];
  return typeof value === 'string' ? value : undefined;
}
