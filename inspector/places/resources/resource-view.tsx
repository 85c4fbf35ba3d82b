import type { VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { ConnectionView } from '../../../src/inspector/contract/connection.js';
import { cleanLine } from '../../../src/tooling/clean.js';
import { Badge } from '../../parts/badge.js';
import { Button } from '../../parts/controls/button.js';
import { CopyButton } from '../../parts/controls/copy-button.js';
import { useKeys } from '../../parts/controls/keys.js';
import { ErrorPanel } from '../../parts/error-panel.js';
import { bytes, clock, duration } from '../../parts/values/format.js';
import { run } from '../../state/api.js';
import { useCommand } from '../../state/command.js';
import { settled } from '../../state/settled.js';
import { ownStories } from '../../state/store.js';
import { ResourceContent } from './content/resource-content.js';
import type { Listed } from './listed.js';
import { readsOf, sortReads } from './reads.js';
import { SubscribeSwitch } from './subscribe-switch.js';

/** A larger one is not read before somebody asks for it. */
const MAX_READ_AT_ONCE = 2_000_000;

/** One resource: what is known about it, its content, and its changes. */
export function ResourceView({
  connection,
  uri,
  listed,
  isReadAtOnce = listed !== undefined,
  hasHead = true,
}: {
  readonly connection: ConnectionView;
  readonly uri: string;
  /** Undefined if the server does not list it. */
  readonly listed: Listed | undefined;
  /** Whether opening it reads it. */
  readonly isReadAtOnce?: boolean;
  /** Whether its name and its URI are shown. */
  readonly hasHead?: boolean;
}): VNode {
  const command = useCommand();
  const { latest, before, running } = sortReads(readsOf(ownStories.value, uri));
  const isReady = connection.status === 'ready';
  const read = (): Promise<boolean> =>
    command.start(async () => {
      const { story } = await run('read', { connection: connection.id, uri });
      await settled(story);
    });
  useKeys({ 'Ctrl+Enter': () => void read(), r: () => void read() });
  const hasRead = latest !== undefined || running !== undefined;
  useEffect(() => {
    if (!hasRead && isReady && isReadAtOnce && (listed?.size ?? 0) <= MAX_READ_AT_ONCE) void read();
  }, [isReady, uri]);
  useUpdates(connection, uri, read);

  return (
    <article class="resources-view">
      {hasHead && <Head uri={uri} listed={listed} />}
      <div class="resources-bar">
        <Button
          look={latest === undefined ? 'main' : 'plain'}
          icon={latest === undefined ? 'play' : 'again'}
          keys="r"
          label={latest === undefined ? 'Read the resource' : 'Read the resource again'}
          isDisabled={!isReady || command.isRunning.value}
          onClick={() => void read()}
        >
          {latest === undefined ? 'Read' : 'Read again'}
        </Button>
        <SubscribeSwitch connection={connection} uri={uri} />
        {latest !== undefined && (
          <span class="label muted resources-facts" role="status">
            {running === undefined ? `read ${clock(latest.at)}` : 'reading'}, {duration(latest.serverMs)}
            {latest.outcomeBytes !== undefined && `, ${bytes(latest.outcomeBytes)}`}
          </span>
        )}
      </div>
      {command.failure.value !== undefined && <ErrorPanel failure={command.failure.value} />}
      {latest !== undefined && <ResourceContent story={latest} before={before} />}
    </article>
  );
}

function Head({ uri, listed }: { readonly uri: string; readonly listed: Listed | undefined }): VNode {
  return (
    <header class="resources-head">
      <h1>{cleanLine(listed?.title ?? uri, 120)}</h1>
      <p class="resources-uri">
        <span class="mono">{cleanLine(uri, 500)}</span>
        <CopyButton text={uri} label="Copy the URI" />
      </p>
      {listed?.description !== undefined && <p>{cleanLine(listed.description, 1000)}</p>}
      <p class="resources-badges">
        {listed === undefined && <Badge>not listed</Badge>}
        {listed?.mimeType !== undefined && <Badge>{cleanLine(listed.mimeType, 80)}</Badge>}
        {listed?.size !== undefined && <Badge>{bytes(listed.size)}</Badge>}
        {listed?.annotations.map((annotation) => (
          <Badge key={annotation}>{annotation}</Badge>
        ))}
      </p>
    </header>
  );
}

/** Reads the resource again when the server says that it has changed; once for all changes that come during a read. */
function useUpdates(connection: ConnectionView, uri: string, read: () => Promise<boolean>): void {
  const updates = connection.subscriptions.find((each) => each.uri === uri)?.updates ?? 0;
  const seen = useRef(updates);
  const isReading = useRef(false);
  const latest = useRef(updates);
  latest.current = updates;
  useEffect(() => {
    async function catchUp(): Promise<void> {
      isReading.current = true;
      while (seen.current < latest.current) {
        seen.current = latest.current;
        if (!(await read())) break;
      }
      isReading.current = false;
    }
    if (updates < seen.current) seen.current = updates;
    if (updates > seen.current && !isReading.current) void catchUp();
  }, [updates]);
}
