// The events of calls, tools, reads, questions, subscriptions, sessions and tasks, on the channels of `node:diagnostics_channel`.

import type { ChangeEvent, RefusedCaller, TraceEvents } from './events.js';
import { JOURNAL_CHANNEL, type RunEvent } from './journal-event.js';

/** The part of Node's `TracingChannel` that is used here. */
export interface Tracing<Event extends object> {
  /** Whether anything listens. Nothing is made for an event unless this is true. */
  readonly hasSubscribers: boolean;
  readonly start: Channel<Event>;
  readonly asyncStart: Channel<Event>;
  readonly asyncEnd: Channel<Event>;
  readonly error: Channel<Event>;
  /** Publishes `start`, runs `work`, and publishes `asyncEnd`, and before it `error` if the promise rejects. */
  tracePromise<T>(work: () => Promise<T>, event: Event): Promise<T>;
}

interface Channel<Event> {
  publish(event: Event): void;
}

interface Builtin {
  tracingChannel(name: string): Tracing<never>;
  channel(name: string): PlainChannel<never>;
}

/** The part of Node's `Channel` that is used here. */
export interface PlainChannel<Event extends object> extends Channel<Event> {
  /** Whether anything listens. Nothing is made for an event unless this is true. */
  readonly hasSubscribers: boolean;
}

function channelOf<Subject extends keyof TraceEvents>(
  subject: Subject,
): Tracing<TraceEvents[Subject]> | undefined {
  return builtinChannels()?.tracingChannel?.(`fullmcp:${subject}`);
}

// Other ways to load the module would keep the package from running where there is none. Node has this one since 20.16 and 22.3.
function builtinChannels(): Partial<Builtin> | undefined {
  const { process } = globalThis as { process?: { getBuiltinModule?: (name: string) => unknown } };
  return process?.getBuiltinModule?.('diagnostics_channel') as Partial<Builtin> | undefined;
}

/** The events of calls; undefined on a runtime without channels. */
export const callEvents: Tracing<TraceEvents['call']> | undefined = /* @__PURE__ */ channelOf('call');
/** The events of the handlers of tools. */
export const toolEvents: Tracing<TraceEvents['tool']> | undefined = /* @__PURE__ */ channelOf('tool');
/** The events of the readers of resources. */
export const readEvents: Tracing<TraceEvents['read']> | undefined = /* @__PURE__ */ channelOf('read');
/** The events of questions. */
export const questionEvents: Tracing<TraceEvents['question']> | undefined =
  /* @__PURE__ */ channelOf('question');
/** The events of subscriptions. */
export const subscriptionEvents: Tracing<TraceEvents['subscription']> | undefined =
  /* @__PURE__ */ channelOf('subscription');
/** The events of sessions. */
export const sessionEvents: Tracing<TraceEvents['session']> | undefined =
  /* @__PURE__ */ channelOf('session');
/** The events of tasks. */
export const taskEvents: Tracing<TraceEvents['task']> | undefined = /* @__PURE__ */ channelOf('task');
/** The requests whose credentials a server has refused; undefined on a runtime without channels. */
export const refusedChannel: PlainChannel<RefusedCaller> | undefined =
  /* @__PURE__ */ builtinChannels()?.channel?.('fullmcp:refused');
/** The events of announced changes. They have no duration. */
export const changeEvents: PlainChannel<ChangeEvent> | undefined =
  /* @__PURE__ */ builtinChannels()?.channel?.('fullmcp:change');
/** The events of the runs of handlers, for the inspector. */
export const journalEvents: PlainChannel<RunEvent> | undefined = /* @__PURE__ */ builtinChannels()?.channel?.(
  JOURNAL_CHANNEL,
);

/**
 * Publishes the start of something that lasts. Returns the function that publishes its end, once; undefined if nobody listens.
 * The end may add to the event.
 */
export function begin<Event extends { error?: unknown }>(
  channel: Tracing<Event> | undefined,
  event: () => NoInfer<Event>,
): ((last?: Partial<Event>) => void) | undefined {
  if (!channel?.hasSubscribers) return undefined;
  const begun = event();
  let isOver = false;
  channel.start.publish(begun);
  return (last) => {
    if (isOver) return;
    isOver = true;
    Object.assign(begun, last);
    if (begun.error !== undefined) channel.error.publish(begun);
    channel.asyncStart.publish(begun);
    channel.asyncEnd.publish(begun);
  };
}
