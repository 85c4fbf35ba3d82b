// Opens the app of a call that is over, and shows it the call.

import { effect } from '@preact/signals';
import type { AppViewRequest } from '../../../src/client/apps/app-requests.js';
import { showApp } from '../../../src/client/apps/show-app.js';
import { ToolCallResult } from '../../../src/client/calls/read-results.js';
import type { ToolView } from '../../../src/inspector/contract/connection.js';
import type { Story } from '../../../src/inspector/contract/story.js';
import type { ListedTool } from '../../../src/protocol/model/model.js';
import { theme } from '../../state/settings.js';
import { outcomeOf } from '../../state/settled.js';
import { pageClient } from './page-client.js';

/** Something that an app told its host. */
export interface AppNote {
  readonly kind: 'message' | 'context' | 'log' | 'link';
  readonly text: string;
}

export interface OpenAppOptions {
  readonly story: Story;
  readonly tool: ToolView;
  readonly container: HTMLElement;
  /** The address of the sandbox, at another origin. */
  readonly sandbox: string;
  readonly approve: (request: AppViewRequest) => Promise<boolean>;
  readonly note: (note: AppNote) => void;
  /** Called if the app is closed because of its behaviour. */
  readonly onClosed: (reason: string) => void;
  /** Closes the app. */
  readonly signal: AbortSignal;
}

const MAX_HEIGHT = 800;

/** Resolves when the app runs; rejects if it cannot be opened. */
export async function openApp(options: OpenAppOptions): Promise<void> {
  const { story, tool, container, sandbox, approve, note, onClosed, signal } = options;
  const listed = tool.tool as unknown as ListedTool;
  const view = await showApp(pageClient(story.connection), {
    tool: listed,
    container,
    sandbox,
    approve,
    context: {
      theme: shownTheme(),
      locale: navigator.language,
      displayMode: 'inline',
      availableDisplayModes: ['inline'],
      containerDimensions: { maxHeight: MAX_HEIGHT, maxWidth: container.clientWidth },
      platform: 'web',
    },
    onOpenLink(link) {
      note({ kind: 'link', text: link.href });
      window.open(link, '_blank', 'noopener,noreferrer');
    },
    onMessage: (content) => note({ kind: 'message', text: JSON.stringify(content) }),
    onModelContext: (context) => note({ kind: 'context', text: JSON.stringify(context) }),
    onLog: (level, data) => note({ kind: 'log', text: `${level}: ${JSON.stringify(data) ?? ''}` }),
    onClosed,
  });
  if (signal.aborted) return view.close();
  signal.addEventListener('abort', () => void view.close(), { once: true });
  view.sendInput(story.args ?? {});
  const outcome = await outcomeOf(story);
  if (outcome === undefined) view.sendCancelled('The call has no result.');
  else view.sendResult(new ToolCallResult(outcome, { name: listed.name, id: undefined }, story.connection));
  const stop = effect(() => view.setContext({ theme: shownTheme() }));
  signal.addEventListener('abort', stop, { once: true });
  await view.ready;
}

function shownTheme(): 'light' | 'dark' {
  if (theme.value !== 'system') return theme.value;
  return matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
}
