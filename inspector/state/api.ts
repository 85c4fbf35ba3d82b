// Requests to the process behind the page.

import type { CatalogView } from '../../src/inspector/contract/connection.js';
import type { Failure } from '../../src/inspector/contract/failure.js';
import type { CommandName, Commands, PageSnapshot } from '../../src/inspector/contract/inspector.js';
import type { MessageText } from '../../src/inspector/contract/message.js';

/** A command that failed. Its message is for the user. */
export class CommandFailure extends Error {
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.message);
    this.name = 'CommandFailure';
    this.failure = failure;
  }
}

export async function run<Name extends CommandName>(
  name: Name,
  input: Commands[Name][0],
): Promise<Commands[Name][1]> {
  return ask(`api/run/${name}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(input),
  });
}

export function fetchSnapshot(): Promise<PageSnapshot> {
  return ask('api/snapshot');
}

export function fetchCatalog(connection: string): Promise<CatalogView> {
  return ask(`api/catalog/${encodeURIComponent(connection)}`);
}

export function fetchMessage(seq: number): Promise<MessageText> {
  return ask(`api/message/${seq}`);
}

/** The address at which the whole outcome of a story can be downloaded. */
export function outcomeAddress(story: number): string {
  return `api/outcome/${story}`;
}

/** The address at which a story can be downloaded as one HTML file. */
export function shareAddress(story: number): string {
  return `api/share/${story}`;
}

/** The address at which the recording of a connection can be downloaded. */
export function tapeAddress(connection: string): string {
  return `api/tape/${encodeURIComponent(connection)}`;
}

async function ask<T>(path: string, init?: RequestInit): Promise<T> {
  let response: Response;
  try {
    response = await fetch(path, init);
  } catch {
    throw new CommandFailure({
      code: 'gone',
      message: 'The inspector does not answer. Is its command still running?',
    });
  }
  const body = (await response.json().catch(() => undefined)) as { error?: Failure } | undefined;
  if (response.ok && body !== undefined) return body as T;
  throw new CommandFailure(
    body?.error ?? { code: 'failed', message: `The inspector answered with status ${response.status}.` },
  );
}
