// Prompts as a server lists them. Nothing in them can be relied on.

import { isObject, type JsonObject } from '../../../src/jsonrpc/message.js';

interface PromptArgument {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly isRequired: boolean;
}

export interface ListedPrompt {
  readonly name: string;
  /** The title, or the name if there is none. */
  readonly title: string;
  readonly description?: string;
  readonly args: readonly PromptArgument[];
}

const MAX_ARGUMENTS = 100;

export function listedPrompt(entry: JsonObject): ListedPrompt | undefined {
  const { name, title, description, arguments: args } = entry;
  if (typeof name !== 'string') return undefined;
  return {
    name,
    title: typeof title === 'string' && title !== '' ? title : name,
    ...(typeof description === 'string' && { description }),
    args: (Array.isArray(args) ? args : []).slice(0, MAX_ARGUMENTS).flatMap(argumentOf),
  };
}

function argumentOf(entry: unknown): readonly PromptArgument[] {
  if (!isObject(entry) || typeof entry['name'] !== 'string') return [];
  const { name, title, description, required } = entry;
  return [
    {
      name,
      ...(typeof title === 'string' && { title }),
      ...(typeof description === 'string' && { description }),
      isRequired: required === true,
    },
  ];
}

export interface PromptMessageView {
  readonly role: string;
  readonly content: readonly JsonObject[];
}

const MAX_MESSAGES = 200;

/** The messages of a result, in order. */
export function messagesOf({ messages }: JsonObject): readonly PromptMessageView[] {
  return (Array.isArray(messages) ? messages : [])
    .filter(isObject)
    .slice(0, MAX_MESSAGES)
    .map(({ role, content }) => ({
      role: typeof role === 'string' ? role : 'no role',
      content: (Array.isArray(content) ? content : [content]).filter(isObject),
    }));
}

/** The messages as text, for pasting into a chat. */
export function messagesText(messages: readonly PromptMessageView[]): string {
  return messages.map(({ role, content }) => `${role}:\n${content.map(blockText).join('\n')}`).join('\n\n');
}

function blockText(block: JsonObject): string {
  const { type, text, uri, resource, mimeType } = block;
  if (typeof text === 'string') return text;
  if (isObject(resource) && typeof resource['text'] === 'string') return resource['text'];
  const about = [uri, isObject(resource) ? resource['uri'] : undefined, mimeType].filter(
    (each) => typeof each === 'string',
  );
  return `[${[type, ...about].join(' ')}]`;
}
