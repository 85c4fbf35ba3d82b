import type { Change, Client } from 'fullmcp/client';

// The examples of docs/subscribe.md.

export async function oneResource(client: Client, show: (text: string) => boolean): Promise<void> {
  // #region uri
  await using changes = await client.subscribe('notes://all');
  for await (const _change of changes) {
    const { text } = await client.readResource('notes://all');
    if (!show(text)) break; // leaving the loop ends the subscription
  }
  // #endregion
}

export async function lists(client: Client, report: (change: Change) => void): Promise<unknown> {
  // #region lists
  const subscription = await client.subscribe(
    { tools: true, resources: true, uris: ['notes://all'] },
    {
      onChange(change) {
        if (change.kind === 'resource') console.error(`${change.uri} has changed`);
        else console.error(`The list of ${change.kind} has changed`);
        report(change);
      },
    },
  );
  subscription.accepted; // { resources: true, uris: ['notes://all'] }: the demo's tools never change
  // #endregion
  return subscription.accepted;
}

export async function untilAborted(client: Client, signal: AbortSignal): Promise<number> {
  let count = 0;
  // #region signal
  const changes = await client.subscribe({ resources: true }, { signal });
  for await (const _change of changes) count++; // ends when the signal aborts, or the client closes
  // #endregion
  return count;
}

export async function ofTask(client: Client): Promise<string[]> {
  const lines: string[] = [];
  // #region task
  const task = await client.startTool('bake_bread', { stepMs: 5 });
  if (task.id === undefined) return lines; // the server did not create a task: the result is already there
  await using changes = await client.subscribe({ tasks: [task.id] });
  for await (const change of changes) {
    if (change.kind !== 'task') continue;
    const { status, statusMessage } = change.state;
    lines.push(`${status} ${statusMessage ?? ''}`);
    if (status !== 'working') break;
  }
  // #endregion
  return lines;
}
