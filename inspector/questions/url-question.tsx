import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import { clean } from '../../src/tooling/clean.js';
import { webAddress } from '../parts/controls/web-link.js';
import { Icon } from '../parts/icon.js';

const MAX_SHOWN = 4000;

/** The whole address, its host in bold. It is opened by a click and never by itself. */
export function UrlQuestion({ url }: { readonly url: string }): VNode {
  const isOpened = useSignal(false);
  const address = webAddress(url);
  if (address === undefined)
    return (
      <div class="question-url">
        <code class="question-address">{clean(url.slice(0, MAX_SHOWN))}</code>
        <p class="question-rejection">
          <Icon name="warning" size={12} /> Only http and https addresses are opened here. Decline unless you
          know why the server sends this one.
        </p>
      </div>
    );
  // As the browser reads it: the name of a foreign host cannot hide behind look-alike letters or a user name.
  const { protocol, host, username, pathname, search, hash } = new URL(address);
  return (
    <div class="question-url">
      <code class="question-address">
        {protocol}
        {'//'}
        {username && (
          <span class="question-warn">
            {clean(address.slice(protocol.length + 2, address.indexOf('@') + 1))}
          </span>
        )}
        <strong>{clean(host)}</strong>
        {clean(`${pathname}${search}${hash}`.slice(0, MAX_SHOWN))}
      </code>
      <div class="question-open-link">
        <a
          class="button"
          href={address}
          target="_blank"
          rel="noreferrer noopener"
          onClick={() => {
            isOpened.value = true;
          }}
        >
          <Icon name="external" /> Open {clean(host).slice(0, 80)}
        </a>
        <span class="muted">
          {isOpened.value
            ? 'Opened in another tab. Answer when you are done there.'
            : protocol === 'http:'
              ? 'This page is not encrypted.'
              : ''}
        </span>
      </div>
    </div>
  );
}
