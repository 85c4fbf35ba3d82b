// The look and the size of a page within its host.

import type { HostContext } from '../../protocol/model/apps/host-context.js';

const FONTS = 'host-fonts';

/** Takes on the colours, the variables and the fonts of the host, as far as they are given. */
export function applyStyles({ theme, styles }: HostContext): void {
  const { documentElement: root } = document;
  if (theme === 'light' || theme === 'dark') {
    root.dataset['theme'] = theme;
    root.style.colorScheme = theme;
  }
  for (const [name, value] of Object.entries(styles?.variables ?? {}))
    if (name.startsWith('--') && typeof value === 'string') root.style.setProperty(name, value);
  const fonts = styles?.css?.fonts;
  if (typeof fonts !== 'string') return;
  const sheet = document.getElementById(FONTS) ?? document.head.appendChild(document.createElement('style'));
  sheet.id = FONTS;
  sheet.textContent = fonts;
}

/** Reports the size of the content, at first and whenever it changes, until the returned function is called. */
export function watchSize(report: (size: { width: number; height: number }) => void): () => void {
  const { documentElement: root } = document;
  let last = '';
  const observer = new ResizeObserver(() => {
    const box = root.getBoundingClientRect();
    const size = { width: Math.ceil(box.width), height: Math.ceil(box.height) };
    const printed = `${size.width} ${size.height}`;
    if (printed === last) return;
    last = printed;
    report(size);
  });
  observer.observe(root);
  return () => observer.disconnect();
}
