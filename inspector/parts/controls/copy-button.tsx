import type { VNode } from 'preact';
import { toast } from '../../state/toast.js';
import { Button } from './button.js';

/** Copies a string, which is made when it is wanted. */
export function CopyButton({
  text,
  label = 'Copy',
  hasWord = false,
}: {
  readonly text: string | (() => string);
  readonly label?: string;
  /** Shows the label beside the icon. */
  readonly hasWord?: boolean;
}): VNode {
  const copy = () => void copyText(typeof text === 'string' ? text : text());
  return (
    <Button look="quiet" icon="copy" label={label} onClick={copy}>
      {hasWord ? label : undefined}
    </Button>
  );
}

/** Copies a string and says so. */
export async function copyText(text: string, word = 'Copied'): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    toast(word);
  } catch {
    toast('The browser does not allow copying here.');
  }
}
