// Saves what was said on a connection as a file.

import type { ConnectionView } from '../../../src/inspector/contract/connection.js';
import { tapeAddress } from '../../state/api.js';
import { toast } from '../../state/toast.js';

const MAX_NAME = 60;
const KEPT_MS = 60_000;

/** Downloads the tape of a connection, and says under which name. */
export async function saveTape({ id, name }: Pick<ConnectionView, 'id' | 'name'>): Promise<void> {
  try {
    const response = await fetch(tapeAddress(id));
    if (!response.ok) throw new Error(`status ${response.status}`);
    const file = tapeName(name, new Date());
    const url = URL.createObjectURL(new Blob([await response.blob()], { type: 'application/x-ndjson' }));
    const link = document.createElement('a');
    link.href = url;
    link.download = file;
    link.click();
    // The browser reads it after the click.
    setTimeout(() => URL.revokeObjectURL(url), KEPT_MS);
    toast(`Saved as ${file}`);
  } catch {
    toast('The tape could not be saved: the inspector does not have it.');
  }
}

/** As in `demo-2026-07-28.ndjson`. */
function tapeName(server: string, at: Date): string {
  const words = server.slice(0, 500).match(/[\w.]+/g) ?? [];
  const day = [at.getFullYear(), at.getMonth() + 1, at.getDate()].map((part) =>
    String(part).padStart(2, '0'),
  );
  const named = words.join('-').replace(/^\.+/, '').slice(0, MAX_NAME);
  return `${[named || 'tape', ...day].join('-')}.ndjson`;
}
