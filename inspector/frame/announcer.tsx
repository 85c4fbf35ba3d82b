import { type Signal, signal } from '@preact/signals';
import type { VNode } from 'preact';
import { useEffect } from 'preact/hooks';
import { openQuestions } from '../state/store.js';

const polite: Signal<string> = signal('');

/** Says something to people who do not see the page, when they pause. */
export function announce(text: string): void {
  polite.value = text;
}

/** Results are said politely, questions at once. */
export function Announcer(): VNode {
  const [first] = openQuestions.value;
  const question = first && `${first.story.title} asks: ${first.question.message.slice(0, 300)}`;
  useEffect(() => {
    if (question !== undefined) document.title = `? ${document.title.replace(/^\? /, '')}`;
    else document.title = document.title.replace(/^\? /, '');
  }, [question]);
  return (
    <>
      <div class="visually-hidden" role="status">
        {polite.value}
      </div>
      <div class="visually-hidden" role="alert">
        {question}
      </div>
    </>
  );
}
