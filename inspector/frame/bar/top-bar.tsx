import './top-bar.css';
import type { VNode } from 'preact';
import { cleanLine } from '../../../src/tooling/clean.js';
import { Button, Keys } from '../../parts/controls/button.js';
import { Icon, Mark } from '../../parts/icon.js';
import { counted } from '../../parts/values/format.js';
import { isNarrow } from '../../state/media.js';
import { addressOf, type Route, route } from '../../state/route.js';
import { theme } from '../../state/settings.js';
import { connection, openQuestions } from '../../state/store.js';
import { goToNextQuestion } from '../go-to-story.js';
import { overlay } from '../overlays/overlays.js';
import { placesOf } from '../places.js';
import { ConnectionState } from './connection-state.js';
import { RevisionSwitch } from './revision-switch.js';
import { ServerSwitch } from './server-switch.js';

/** The bar at the top: which server, how it is spoken to, how it is, and where one can go. */
export function TopBar({ place }: { readonly place: string }): VNode {
  const view = connection.value;
  const back = isNarrow.value && route.value.name !== undefined ? route.value : undefined;
  return (
    <header class="frame-bar">
      <div class="frame-identity">
        {back ? (
          <>
            <a class="button quiet icon" href={addressOf(parentOf(back.place))} title="Back">
              <Icon name="back" label="Back" />
            </a>
            <BackName back={back} />
          </>
        ) : (
          <>
            <Mark />
            <ServerSwitch />
          </>
        )}
        {view && !back && <RevisionSwitch connection={view} />}
        {view && <ConnectionState connection={view} />}
      </div>
      {view && <Places shown={place} />}
      <div class="frame-actions">
        <Questions />
        <Button
          look="quiet"
          icon="search"
          label="Search tools, calls and actions"
          keys="Ctrl+K"
          class="frame-search"
          onClick={() => {
            overlay.value = 'palette';
          }}
        >
          <Keys of="Ctrl+K" />
        </Button>
        <ThemeSwitch />
        <Button
          look="quiet"
          icon="keys"
          label="All keys"
          keys="?"
          class="frame-keys"
          onClick={() => {
            overlay.value = 'keys';
          }}
        />
      </div>
    </header>
  );
}

/** The name of what is open. A tool has no other heading on a phone; everything else has, so that it is named by the place that leads back. */
function BackName({ back: { place, name = '' } }: { readonly back: Route }): VNode {
  if (place === 'tools') return <h1 class="frame-back-name mono">{cleanLine(name, 60)}</h1>;
  const parent = parentOf(place);
  const label = placesOf(parent).find((each) => each.place === parent)?.label ?? 'Tapes';
  return <strong class="frame-back-name">{label}</strong>;
}

function parentOf(place: string): string {
  if (place === 'task') return 'tasks';
  return place === 'call' || place === 'compare' ? 'timeline' : place;
}

function Places({ shown }: { readonly shown: string }): VNode {
  return (
    <nav class="frame-places" aria-label="Places">
      {placesOf(shown).map(({ place, label, icon, key, count }) => (
        <a
          key={place}
          href={addressOf(place)}
          class={`frame-place is-${place}`}
          aria-current={place === shown ? 'page' : undefined}
          aria-keyshortcuts={key}
          title={key === undefined ? label : `${label} (${key})`}
        >
          <Icon name={icon} />
          <span>{label}</span>
          {count !== undefined && count > 0 && <span class="frame-count">{count}</span>}
        </a>
      ))}
    </nav>
  );
}

function Questions(): VNode | null {
  const count = openQuestions.value.length;
  if (count === 0) return null;
  return (
    <button
      type="button"
      class="button frame-questions"
      onClick={goToNextQuestion}
      aria-label={`Questions ${count}`}
      aria-keyshortcuts="q"
      title={`${counted(count, 'open question')} (q)`}
    >
      <Icon name="question" />
      <span>
        <span class="frame-wide">Questions </span>
        {count}
      </span>
    </button>
  );
}

const NEXT_THEME = { system: 'light', light: 'dark', dark: 'system' } as const;
const THEME_ICONS = { system: 'theme', light: 'sun', dark: 'moon' } as const;

function ThemeSwitch(): VNode {
  return (
    <Button
      look="quiet"
      icon={THEME_ICONS[theme.value]}
      label={`Theme: ${theme.value}. Change to ${NEXT_THEME[theme.value]}`}
      class="frame-theme"
      onClick={() => {
        theme.value = NEXT_THEME[theme.value];
      }}
    />
  );
}
