import './frame.css';
import '../parts/parts.css';
import type { ComponentType, VNode } from 'preact';
import { useEffect } from 'preact/hooks';
import { Splitter } from '../parts/controls/split.js';
import { lazy } from '../parts/lazy.js';
import { Connect } from '../places/connect/connect.js';
import { Tools } from '../places/tools/tools.js';
import { isNarrow, isWide } from '../state/media.js';
import { addressOf, route } from '../state/route.js';
import { timelineWidth } from '../state/settings.js';
import { connection, connections, live } from '../state/store.js';
import { Announcer } from './announcer.js';
import { TopBar } from './bar/top-bar.js';
import { ConnectionBanner } from './connection-banner.js';
import { ErrorBoundary } from './error-boundary.js';
import { Overlays } from './overlays/overlays.js';
import { PageKeys } from './page-keys.js';
import { placesOf } from './places.js';
import { TimelineStrip } from './timeline-strip.js';

const Timeline = lazy(() => import('../timeline/timeline.js').then((module) => module.Timeline));
const CallPage = lazy(() => import('../timeline/call-page.js').then((module) => module.CallPage));

const PLACES: ReadonlyMap<string, ComponentType> = new Map<string, ComponentType>([
  ['connect', Connect],
  ['tools', Tools],
  ['timeline', () => <Timeline />],
  ['resources', lazy(() => import('../places/resources/resources.js').then((module) => module.Resources))],
  ['prompts', lazy(() => import('../places/prompts/prompts.js').then((module) => module.Prompts))],
  ['tasks', lazy(() => import('../places/tasks/tasks.js').then((module) => module.Tasks))],
  ['events', lazy(() => import('../places/events/events.js').then((module) => module.Events))],
  ['chat', lazy(() => import('../places/chat/chat.js').then((module) => module.ChatPlace))],
  ['requests', lazy(() => import('../places/requests/requests.js').then((module) => module.Requests))],
  ['compare', lazy(() => import('../places/compare/compare.js').then((module) => module.Compare))],
  ['tapes', lazy(() => import('../places/tapes/tapes.js').then((module) => module.Tapes))],
  ['server', lazy(() => import('../places/server/server.js').then((module) => module.ServerPlace))],
]);

/** The places with a list: its filter, its groups and where it is scrolled to stay when another item is opened. */
const LISTS: ReadonlySet<string> = new Set(['tools', 'resources', 'prompts', 'tasks', 'events', 'server']);

/** The page: the bar at the top, the place that is shown, and the timeline beside it. */
export function Frame(): VNode {
  const shown = placeShown();
  const hasTimeline =
    connections.value.size > 0 && shown !== 'connect' && shown !== 'timeline' && !isNarrow.value;
  const isBeside = hasTimeline && isWide.value;
  useEffect(() => {
    const name = connection.value?.name;
    document.title = name === undefined ? 'fullmcp inspector' : `${name} · fullmcp inspector`;
  }, [connection.value?.name]);
  return (
    <div class="frame" style={{ '--timeline-width': `${timelineWidth.value}px` }}>
      <button
        type="button"
        class="button frame-skip"
        onClick={() => document.getElementById('main')?.focus()}
      >
        Skip to the content
      </button>
      <TopBar place={shown} />
      <ConnectionBanner />
      <div class="frame-body">
        <main class="frame-main" id="main" tabIndex={-1}>
          {(isNarrow.value
            ? route.value.name === undefined && shown !== 'connect'
            : shown === 'timeline') && (
            <h1 class="visually-hidden">
              {placesOf(shown).find(({ place }) => place === shown)?.label ?? shown}
            </h1>
          )}
          <ErrorBoundary
            key={LISTS.has(shown) ? shown : addressOf(shown, route.value.name)}
            of={route.value.name}
          >
            <Place name={shown} />
          </ErrorBoundary>
        </main>
        {isBeside && (
          <aside class="frame-aside" aria-label="Timeline">
            <Splitter
              size={timelineWidth}
              min={320}
              max={760}
              label="Width of the timeline"
              isReversed={true}
            />
            <div class="frame-timeline" id="timeline" tabIndex={-1}>
              <ErrorBoundary>
                <Timeline />
              </ErrorBoundary>
            </div>
          </aside>
        )}
      </div>
      {hasTimeline && !isBeside && <TimelineStrip />}
      <PageKeys />
      <Overlays />
      <Announcer />
    </div>
  );
}

function Place({ name }: { readonly name: string }): VNode | null {
  if (live.value === 'starting') return null;
  if (name === 'call') return <CallPage id={Number(route.value.name)} />;
  const Shown = PLACES.get(name) ?? Tools;
  return <Shown />;
}

/** Where there is no connection that works, connecting is the place to be. */
function placeShown(): string {
  const { place } = route.value;
  if (place === 'task') return 'tasks';
  if (place === 'tapes' || place === 'connect') return place;
  const status = connection.value?.status;
  const wasReady = connection.value?.connectedAt !== undefined;
  if (status === undefined) return 'connect';
  if (status === 'ready' || status === 'reconnecting' || wasReady) return place;
  return ['server', 'timeline', 'call', 'compare'].includes(place) ? place : 'connect';
}
