// The requests of an app that wait for the user. An app is as untrustworthy as its server.

import { type Signal, signal } from '@preact/signals';
import type { AppViewRequest } from '../../../src/client/apps/app-requests.js';

export interface Approval {
  readonly id: number;
  readonly request: AppViewRequest;
  readonly settle: (answer: 'once' | 'always' | 'no') => void;
}

const MAX_WAITING = 10;

/** Asks the user about each request, except those that were allowed for as long as the app is open. */
export class Approvals {
  readonly waiting: Signal<readonly Approval[]> = signal([]);
  readonly #allowed = new Set<string>();
  #next = 0;

  /** Resolves with whether the request may be carried out. */
  approve(request: AppViewRequest): Promise<boolean> {
    const subject = subjectOf(request);
    if (subject === undefined || this.#allowed.has(subject)) return Promise.resolve(true);
    // An app that asks without end must not fill the page.
    if (this.waiting.value.length >= MAX_WAITING) return Promise.resolve(false);
    return new Promise((resolve) => {
      const id = this.#next++;
      const settle: Approval['settle'] = (answer) => {
        if (answer === 'always') this.#allowed.add(subject);
        this.waiting.value = this.waiting.value.filter((each) => each.id !== id);
        resolve(answer !== 'no');
      };
      this.waiting.value = [...this.waiting.value, { id, request, settle }];
    });
  }

  /** Refuses everything that waits. */
  close(): void {
    for (const { settle } of this.waiting.value) settle('no');
  }
}

/** The subject of a request; undefined for one that changes nothing outside of the app. */
function subjectOf({ method, params }: AppViewRequest): string | undefined {
  if (method === 'ui/request-display-mode' || method === 'ui/update-model-context') return undefined;
  // A permission for one address is not one for all of them.
  return `${method} ${String(params['name'] ?? params['uri'] ?? params['url'] ?? '')}`;
}

/** The request as a sentence. */
export function approvalSentence({ method, params }: AppViewRequest): string {
  switch (method) {
    case 'tools/call':
      return `The app wants to call the tool “${String(params['name']).slice(0, 100)}”.`;
    case 'resources/read':
      return `The app wants to read ${String(params['uri']).slice(0, 200)}.`;
    case 'ui/open-link':
      return `The app wants to open ${String(params['url']).slice(0, 300)} in a new tab.`;
    case 'ui/message':
      return 'The app wants to send a message in your name. The inspector only notes it.';
    default:
      return `The app asks for ${method.slice(0, 60)}.`;
  }
}
