// Shows the lines that an edit of a file changes.

/** The changed lines with - and +, and the number of the first one. One edit changes one place, so one block is enough. */
export function changedLines(before: string, after: string): string {
  const [old, now] = [before, after].map((text) => text.split(/\r?\n/)) as [string[], string[]];
  const most = Math.min(old.length, now.length);
  let start = 0;
  while (start < most && old[start] === now[start]) start += 1;
  let end = 0;
  while (end < most - start && old[old.length - 1 - end] === now[now.length - 1 - end]) end += 1;
  const removed = old.slice(start, old.length - end).map((line) => `- ${line}`);
  const added = now.slice(start, now.length - end).map((line) => `+ ${line}`);
  return [`@@ line ${start + 1} @@`, ...removed, ...added].join('\n');
}
