import type { VNode } from 'preact';
import { MARK_SHAPE } from '../../src/face/mark.js';

// Drawn on 16 × 16 with a line of 1.5.
const PATHS = {
  tools:
    'M9.5 2.5a3.5 3.5 0 0 0-3.2 4.9L2.5 11.2a1.6 1.6 0 0 0 2.3 2.3l3.8-3.8a3.5 3.5 0 0 0 4.6-4.4L11 7.5 8.6 7.4 8.5 5l2.2-2.2a3.5 3.5 0 0 0-1.2-.3Z',
  resources: 'M3.5 2.5h6l3 3v8h-9zM9.5 2.5v3h3M5.5 8.5h5M5.5 11h5',
  prompts: 'M2.5 3.5h11v7.5H8L5 13.5V11H2.5zM5 6.2h6M5 8.5h4',
  tasks: 'M8 2.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11ZM8 5v3.2l2.2 1.4',
  server: 'M2.5 3h11v4h-11zM2.5 9h11v4h-11zM5 5h.01M5 11h.01',
  timeline: 'M3 2v12M13 2v12M3 5h7m-2-2 2 2-2 2M13 11H6m2-2-2 2 2 2',
  tapes:
    'M2 4h12v8.5H2zM6 8.5a1.2 1.2 0 1 1-2.4 0 1.2 1.2 0 0 1 2.4 0ZM12.4 8.5a1.2 1.2 0 1 1-2.4 0 1.2 1.2 0 0 1 2.4 0ZM6 9.7h4',
  save: 'M4.5 2.5h7v11L8 10.8l-3.5 2.7z',
  search: 'M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9ZM10.3 10.3l3.2 3.2',
  filter: 'M2 3.5h12M4.5 8h7M6.5 12.5h3',
  theme: 'M8 2.5a5.5 5.5 0 1 0 0 11zM8 2.5a5.5 5.5 0 0 1 0 11',
  sun: 'M8 5.2a2.8 2.8 0 1 0 0 5.6 2.8 2.8 0 0 0 0-5.6ZM8 1.5v1.3M8 13.2v1.3M1.5 8h1.3M13.2 8h1.3M3.4 3.4l.9.9M11.7 11.7l.9.9M3.4 12.6l.9-.9M11.7 4.3l.9-.9',
  moon: 'M13 9.6A5.6 5.6 0 0 1 6.4 3a5.6 5.6 0 1 0 6.6 6.6Z',
  keys: 'M1.5 4h13v8h-13zM4 6.5h.01M6.7 6.5h.01M9.3 6.5h.01M12 6.5h.01M4.5 9.5h7',
  help: 'M6 6a2 2 0 1 1 2.8 1.8c-.6.3-.8.7-.8 1.4M8 11.6h.01M8 1.8a6.2 6.2 0 1 0 0 12.4A6.2 6.2 0 0 0 8 1.8Z',
  close: 'm4 4 8 8M12 4l-8 8',
  check: 'm3 8.5 3.2 3.2L13 4.8',
  cross: 'm4.2 4.2 7.6 7.6M11.8 4.2l-7.6 7.6',
  question: 'M5.5 5.7a2.5 2.5 0 1 1 3.5 2.3c-.8.4-1 .9-1 1.8M8 12.6h.01',
  warning: 'M8 2.2 14.3 13H1.7zM8 6.5v3M8 11.3h.01',
  info: 'M8 1.8a6.2 6.2 0 1 0 0 12.4A6.2 6.2 0 0 0 8 1.8ZM8 7.3v3.6M8 5.1h.01',
  compare: 'M2 3h4.5v10H2zM9.5 3H14v10H9.5zM3.7 6h1M3.7 8.5h1M11.2 6h1M11.2 8.5h1',
  copy: 'M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3',
  download: 'M8 2v8m-3-3 3 3 3-3M2.5 13.5h11',
  upload: 'M8 10V2M5 5l3-3 3 3M2.5 13.5h11',
  play: 'M4.5 2.8 12.8 8l-8.3 5.2z',
  pause: 'M5 3v10M11 3v10',
  stop: 'M4 4h8v8H4z',
  again: 'M13 8a5 5 0 1 1-1.6-3.7M13.2 2v3h-3',
  down: 'm4 6.2 4 4 4-4',
  right: 'm6.2 4 4 4-4 4',
  up: 'm4 9.8 4-4 4 4',
  back: 'm9.8 4-4 4 4 4',
  plus: 'M8 3v10M3 8h10',
  trash: 'M2.5 4h11M6 4V2.5h4V4M4 4l.6 9.5h6.8L12 4M6.7 6.5v4.5M9.3 6.5v4.5',
  link: 'M6.8 9.2a2.6 2.6 0 0 0 3.7 0l2.2-2.2A2.6 2.6 0 0 0 9 3.3l-.9.9M9.2 6.8a2.6 2.6 0 0 0-3.7 0L3.3 9A2.6 2.6 0 0 0 7 12.7l.9-.9',
  external: 'M6.5 3.5h-4v10h10v-4M9 2.5h4.5V7M13 3 7.5 8.5',
  pin: 'M5.5 2.5h5l-.6 4 2.1 2.3H4l2.1-2.3zM8 8.8v5',
  edit: 'm3 10.2 7.3-7.3a1.3 1.3 0 0 1 1.9 0l.9.9a1.3 1.3 0 0 1 0 1.9L5.8 13l-3.2.4z',
  braces:
    'M6 2.5H5A1.5 1.5 0 0 0 3.5 4v2.5L2 8l1.5 1.5V12A1.5 1.5 0 0 0 5 13.5h1M10 2.5h1A1.5 1.5 0 0 1 12.5 4v2.5L14 8l-1.5 1.5V12a1.5 1.5 0 0 1-1.5 1.5h-1',
  file: 'M4 1.8h5l3.2 3.2v9.2H4zM9 1.8V5h3.2',
  image: 'M2 3h12v10H2zM5.5 6.8h.01M2.5 12l3.5-3.5 2.5 2.3L11 8l3 3',
  sound: 'M2.5 6v4H5l3.5 3V3L5 6zM11 5.8a3 3 0 0 1 0 4.4M12.8 4a5.5 5.5 0 0 1 0 8',
  lock: 'M3.5 7h9v6.5h-9zM5.2 7V5a2.8 2.8 0 0 1 5.6 0v2',
  bell: 'M4 11V7a4 4 0 0 1 8 0v4l1.2 1.2H2.8zM6.8 13.8h2.4',
  eye: 'M1.5 8S4 3.8 8 3.8 14.5 8 14.5 8 12 12.2 8 12.2 1.5 8 1.5 8ZM8 6.2a1.8 1.8 0 1 0 0 3.6 1.8 1.8 0 0 0 0-3.6Z',
  more: 'M3.5 8h.01M8 8h.01M12.5 8h.01',
  wrap: 'M2.5 4h11M2.5 8h8.3a2.2 2.2 0 1 1 0 4.4H8.5m1.8-1.8-1.8 1.8 1.8 1.8M2.5 12h3',
} as const;

export type IconName = keyof typeof PATHS;

/** A drawn sign. Without a `label` it is decoration beside a word. */
export function Icon({
  name,
  label,
  size = 16,
}: {
  readonly name: IconName;
  readonly label?: string | undefined;
  readonly size?: number;
}): VNode {
  const named = label === undefined ? { 'aria-hidden': true } : { role: 'img' as const, 'aria-label': label };
  return (
    <svg
      class="icon"
      width={size}
      height={size}
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      stroke-width="1.5"
      stroke-linecap="round"
      stroke-linejoin="round"
      {...named}
    >
      <path d={PATHS[name]} />
    </svg>
  );
}

/** The mark of fullmcp. */
export function Mark(): VNode {
  return (
    <svg class="mark" width="20" height="20" viewBox="0 0 16 16" role="img" aria-label="fullmcp">
      <path d={MARK_SHAPE} />
    </svg>
  );
}
