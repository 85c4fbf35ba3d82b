import type { VNode } from 'preact';
import { clean } from '../../../src/tooling/clean.js';
import { Button } from '../../parts/controls/button.js';
import { CodeBlock } from '../../parts/values/code-block.js';
import { type Approvals, approvalSentence } from './approvals.js';

/** The requests of an app that wait for the user. */
export function ApprovalPanel({ approvals }: { readonly approvals: Approvals }): VNode {
  return (
    <div role="status">
      {approvals.waiting.value.map(({ id, request, settle }) => (
        <section key={id} class="app-approval" aria-label="Request of the app">
          <p>{clean(approvalSentence(request))}</p>
          {request.params['arguments'] !== undefined && (
            <CodeBlock
              text={JSON.stringify(request.params['arguments'], undefined, 2)}
              language="json"
              label="Arguments"
            />
          )}
          <div class="app-approval-buttons">
            <Button look="main" onClick={() => settle('once')}>
              Allow
            </Button>
            <Button onClick={() => settle('always')}>Allow while it is open</Button>
            <Button look="quiet" onClick={() => settle('no')}>
              Refuse
            </Button>
          </div>
        </section>
      ))}
    </div>
  );
}
