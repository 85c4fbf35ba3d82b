// Numbers and times as people read them.

/** As in `3 ms`, `1.4 s`, `2:05`. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}

/** As in `10:41:13`; with `fraction`, `10:41:13.012`. */
export function clock(at: number, fraction = false): string {
  const date = new Date(at);
  const text = [date.getHours(), date.getMinutes(), date.getSeconds()]
    .map((part) => String(part).padStart(2, '0'))
    .join(':');
  return fraction ? `${text}.${String(date.getMilliseconds()).padStart(3, '0')}` : text;
}

/** As in `10:41:13` for today, and `Nov 17, 10:41` for other days. */
export function moment(at: number): string {
  const date = new Date(at);
  if (date.toDateString() === new Date().toDateString()) return clock(at);
  const day = date.toLocaleDateString('en', { month: 'short', day: 'numeric' });
  return `${day}, ${clock(at).slice(0, 5)}`;
}

/** As in `412 B`, `1.2 kB`, `50 MB`. */
export function bytes(count: number): string {
  if (count < 1000) return `${count} B`;
  if (count < 1_000_000) return `${(count / 1000).toFixed(1)} kB`;
  return `${(count / 1_000_000).toFixed(1)} MB`;
}

/** As in `1 tool`, `2 tools`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}
