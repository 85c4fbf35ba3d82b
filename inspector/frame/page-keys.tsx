import { isTyping, useKeys } from '../parts/controls/keys.js';
import { isNarrow, isWide } from '../state/media.js';
import { go, route } from '../state/route.js';
import { connection, requestsFile } from '../state/store.js';
import { goToNextQuestion } from './go-to-story.js';
import { overlay } from './overlays/overlays.js';
import { offersEvents } from './places.js';
import { closeStrip, isStripOpen, toggleStrip } from './timeline-strip.js';

/** The keys that work everywhere. */
export function PageKeys(): null {
  useKeys({
    '1': () => go('tools'),
    '2': () => go('resources'),
    '3': () => go('prompts'),
    '4': () => go('tasks'),
    '5': () => go('server'),
    '6': () => (requestsFile.value === undefined ? false : go('requests')),
    '7': () => (offersEvents(connection.value?.server?.capabilities ?? {}) ? go('events') : false),
    '8': () => go('chat'),
    q: goToNextQuestion,
    t: showTimeline,
    '?': () => {
      overlay.value = 'keys';
    },
    'Ctrl+k': () => {
      overlay.value = 'palette';
    },
    Escape: goBack,
  });
  return null;
}

function showTimeline(): void {
  if (isNarrow.value) go('timeline');
  else if (isWide.value)
    (document.getElementById('timeline-list') ?? document.getElementById('timeline'))?.focus();
  else toggleStrip();
}

/** One level back: out of a field, out of a call or a comparison, out of the list on a phone. It never answers and never stops. */
function goBack(): false | void {
  if (isTyping(document.activeElement)) return leaveField();
  const { place, name } = route.value;
  if (isStripOpen.value) closeStrip();
  else if (place === 'call' || place === 'compare') history.back();
  else if (isNarrow.value && name !== undefined) go(place);
  else return false;
}

/** From a field to the list that it was reached from, where there is one. */
function leaveField(): void {
  const field = document.activeElement as HTMLElement;
  const row = document.querySelector<HTMLElement>('.list-row[aria-current]');
  if (row && field.closest('#main')) row.focus({ preventScroll: true });
  else field.blur();
}
