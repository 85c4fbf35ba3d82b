import type { ComponentChildren, VNode } from 'preact';
import { Icon, type IconName } from '../icon.js';

export interface ButtonProps {
  /** `main` is the one thing to do next; `quiet` has no edge. */
  readonly look?: 'plain' | 'main' | 'quiet';
  readonly icon?: IconName;
  /** The name of a button that shows its icon only; otherwise what hovering adds. */
  readonly label?: string;
  /** The key that does the same, as in `Ctrl+Enter`. */
  readonly keys?: string | undefined;
  readonly isDisabled?: boolean | undefined;
  readonly isPressed?: boolean | undefined;
  readonly isExpanded?: boolean | undefined;
  readonly controls?: string | undefined;
  readonly class?: string;
  readonly type?: 'button' | 'submit';
  readonly onClick?: ((event: MouseEvent) => void) | undefined;
  readonly children?: ComponentChildren;
}

/** A button; with an icon and without children, a square one that is named by `label`. */
export function Button({
  look = 'plain',
  icon,
  label,
  keys,
  isDisabled,
  isPressed,
  isExpanded,
  controls,
  class: extra,
  type = 'button',
  onClick,
  children,
}: ButtonProps): VNode {
  const isIcon = children === undefined && icon !== undefined;
  const classes = ['button', look !== 'plain' && look, isIcon && 'icon', extra].filter(Boolean).join(' ');
  const hover =
    label === undefined ? undefined : keys === undefined ? label : `${label} (${keyNames(keys).join(' ')})`;
  return (
    <button
      type={type}
      class={classes}
      title={hover}
      aria-label={isIcon ? label : undefined}
      aria-keyshortcuts={keys && shortcut(keys)}
      aria-pressed={isPressed}
      aria-expanded={isExpanded}
      aria-controls={controls}
      disabled={isDisabled}
      onClick={onClick}
    >
      {icon && <Icon name={icon} />}
      {children}
    </button>
  );
}

/** A key beside the name of what it does. */
export function Keys({ of }: { readonly of: string }): VNode {
  return (
    <span class="keys" aria-hidden="true">
      {keyNames(of).map((key) => (
        <kbd key={key}>{key}</kbd>
      ))}
    </span>
  );
}

const isMac = /^(Mac|iP)/.test(globalThis.navigator?.platform ?? '');

/** The keys of a combination as they are printed on this keyboard: `Ctrl+K` is ⌘ and K on a Mac. */
function keyNames(keys: string): readonly string[] {
  return keys
    .split('+')
    .map((key) =>
      key === 'Enter' ? '⏎' : key === 'Ctrl' && isMac ? '⌘' : key === 'Alt' && isMac ? '⌥' : key,
    );
}

/** The same for `aria-keyshortcuts`. */
function shortcut(keys: string): string {
  return keys.replace('Ctrl', isMac ? 'Meta' : 'Control');
}
