import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import { useEffect } from 'preact/hooks';
import { cleanLine } from '../../src/tooling/clean.js';
import { Icon } from '../parts/icon.js';
import { bytes } from '../parts/values/format.js';

// As a picture or as sound, nothing of these can run. Everything else is only downloaded.
const DRAWING = 'image/svg+xml';
const PICTURES: ReadonlySet<string> = new Set([
  'image/png',
  'image/jpeg',
  'image/gif',
  'image/webp',
  'image/avif',
  'image/bmp',
  DRAWING,
  'image/x-icon',
]);

/** A picture, sound, or a file to download. */
export function Media({
  data,
  mimeType,
  name,
}: {
  readonly data: string;
  readonly mimeType: string;
  readonly name?: string;
}): VNode {
  const url = useSignal<string | undefined>(undefined);
  const size = useSignal(0);
  const isBroken = useSignal(false);
  const isPicture = PICTURES.has(mimeType);
  const isSound = mimeType.startsWith('audio/');
  useEffect(() => {
    const decoded = bytesOf(data);
    isBroken.value = decoded === undefined;
    if (decoded === undefined) return undefined;
    size.value = decoded.byteLength;
    // A document of a server that is opened from here would be a page of the inspector. A drawing is a document, too.
    const isInert = (isPicture && mimeType !== DRAWING) || isSound;
    const type = isInert ? mimeType : 'application/octet-stream';
    const made = URL.createObjectURL(new Blob([decoded], { type }));
    url.value = made;
    return () => URL.revokeObjectURL(made);
  }, [data, mimeType]);
  const fileName = fileNameOf(name, mimeType);
  return (
    <div class="results-media">
      {isBroken.value && <p class="results-broken">This is not base64: it cannot be shown.</p>}
      {url.value !== undefined && isPicture && (
        <img
          src={mimeType === DRAWING ? `data:${DRAWING};base64,${data}` : url.value}
          alt={name === undefined ? 'Picture from the server' : cleanLine(name, 100)}
          onError={() => {
            isBroken.value = true;
          }}
        />
      )}
      {url.value !== undefined && isSound && <audio controls={true} src={url.value} />}
      {url.value !== undefined && (
        <p class="label muted results-media-facts">
          <span>{cleanLine(mimeType || 'unknown type', 60)}</span>
          <span>{bytes(size.value)}</span>
          <a href={url.value} download={fileName}>
            <Icon name="download" size={12} /> {fileName}
          </a>
        </p>
      )}
    </div>
  );
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}

function fileNameOf(name: string | undefined, mimeType: string): string {
  const last = name
    ?.split('/')
    .at(-1)
    ?.replaceAll(/[^\w.-]/g, '_')
    .slice(0, 80);
  if (last?.includes('.')) return last;
  const extension = mimeType.split('/')[1]?.split(/[+;]/)[0]?.replaceAll(/\W/g, '') || 'bin';
  return `${last || 'content'}.${extension}`;
}
