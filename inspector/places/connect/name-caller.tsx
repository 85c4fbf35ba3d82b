import { type Signal, signal } from '@preact/signals';
import type { VNode } from 'preact';
import type { ConnectionView } from '../../../src/inspector/contract/connection.js';
import type { Failure } from '../../../src/inspector/contract/failure.js';
import { Button } from '../../parts/controls/button.js';
import { go } from '../../state/route.js';
import { connections, mayConnect } from '../../state/store.js';

/** The connection to a file that is to be opened again with a caller. The form of Connect takes it. */
export const unnamed: Signal<ConnectionView | undefined> = signal(undefined);

/** The way from the refusal of a server to naming who calls it; undefined for other failures, and for servers elsewhere. */
export function nameCaller(id: string, failure: Failure): VNode | undefined {
  const view = connections.value.get(id);
  if (view === undefined || !isFile(view) || !mayConnect.value || !mayBeRefusal(failure)) return undefined;
  return (
    <Button
      icon="edit"
      onClick={() => {
        unnamed.value = view;
        go('connect');
      }}
    >
      Name a caller
    </Button>
  );
}

/** On stdio, a refusal is an internal error. One that was thrown by mistake has a reference instead of its message. */
function mayBeRefusal({ code, message }: Failure): boolean {
  if (code === 'internal_error') return !message.includes('(ref ');
  return code === 'unauthorized' || code === 'forbidden';
}

/** Whether the inspector runs a file: handlers elsewhere report only if the inspector is mounted beside them. */
export function isFile({ isFixed, seesJournal }: ConnectionView): boolean {
  return seesJournal && !isFixed;
}
