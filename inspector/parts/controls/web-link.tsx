import type { ComponentChildren, VNode } from 'preact';
import { webUrl } from '../../../src/protocol/checks/web-url.js';
import { cleanLine } from '../../../src/tooling/clean.js';

/** The address, if it leads to the web; anything else, such as `javascript:`, is undefined. */
export function webAddress(text: string): string | undefined {
  return webUrl(text)?.href;
}

/** A link of a server. It opens beside the inspector, which the other page learns nothing about. */
export function WebLink({
  href,
  children,
}: {
  readonly href: string;
  readonly children: ComponentChildren;
}): VNode {
  const address = webAddress(href);
  if (address === undefined) return <span>{children}</span>;
  return (
    <a href={address} target="_blank" rel="noreferrer noopener" title={cleanLine(address, 300)}>
      {children}
    </a>
  );
}
