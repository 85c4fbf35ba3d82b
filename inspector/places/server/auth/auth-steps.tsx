import './auth.css';
import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import { useId } from 'preact/hooks';
import type { AuthHop, AuthView } from '../../../../src/inspector/contract/connection.js';
import { cleanLine } from '../../../../src/tooling/clean.js';
import { Icon, type IconName } from '../../../parts/icon.js';
import { AuthHopView } from './auth-hop.js';
import { authSentence, expiry, stepName } from './auth-words.js';

const MARKS: Readonly<Record<AuthHop['outcome'], { icon: IconName; word: string }>> = {
  ok: { icon: 'check', word: 'ok' },
  failed: { icon: 'cross', word: 'failed' },
  waiting: { icon: 'tasks', word: 'waiting for you' },
};

/** The authorization as a row of steps. Each opens to its request and its reply. */
export function AuthSteps({ auth }: { readonly auth: AuthView }): VNode {
  const { hops, token } = auth;
  const failed = hops.findLastIndex(({ outcome }) => outcome === 'failed');
  // A login that failed opens at the step that failed.
  const chosen = useSignal<number | undefined>(undefined);
  const open = chosen.value ?? (auth.state === 'failed' && failed >= 0 ? failed : -1);
  const panel = useId();
  const hop = hops[open];
  const now = Date.now();
  return (
    <div class="auth">
      <p role="status">{authSentence(auth, now)}</p>
      {hops.length > 0 && (
        <ol class="auth-steps">
          {hops.map((each, at) => {
            const { icon, word } = MARKS[each.outcome];
            return (
              <li key={at}>
                <button
                  type="button"
                  class={`auth-step ${each.outcome}`}
                  aria-expanded={at === open}
                  aria-controls={panel}
                  onClick={() => {
                    chosen.value = at === open ? -1 : at;
                  }}
                >
                  <span class="auth-number">{at + 1}</span>
                  <span>{cleanLine(stepName(each), 60)}</span>
                  <Icon name={icon} label={word} />
                  {each.reply !== undefined && <span class="mono">{each.reply.status}</span>}
                </button>
              </li>
            );
          })}
          {token?.expiresAt !== undefined && (
            <li class="auth-until muted">token {expiry(token.expiresAt, now)}</li>
          )}
        </ol>
      )}
      <div id={panel}>{hop !== undefined && <AuthHopView hop={hop} number={open + 1} />}</div>
    </div>
  );
}
