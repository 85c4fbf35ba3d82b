import type { VNode } from 'preact';
import type { Story } from '../../src/inspector/contract/story.js';

/** The questions of a call that runs, inside the call. */
export function QuestionPanel({ story }: { readonly story: Story }): VNode {
  const open = story.questions.filter(
    ({ answeredAt, gone }) => answeredAt === undefined && gone === undefined,
  );
  return (
    <section aria-label="Questions">
      {open.map((question) => (
        <p key={question.id}>{question.message}</p>
      ))}
    </section>
  );
}
