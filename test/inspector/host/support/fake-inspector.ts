import type {
  Inspector,
  InspectorEvent,
  PageSnapshot,
} from '../../../../src/inspector/contract/inspector.js';
import { emptyCatalog } from '../../../../src/inspector/session/connection/catalog.js';
import type { JsonObject } from '../../../../src/jsonrpc/message.js';
import { McpError } from '../../../../src/protocol/errors.js';

export interface FakeInspector extends Inspector {
  readonly ran: { command: string; input: JsonObject }[];
  readonly publish: (event: InspectorEvent) => void;
  readonly listeners: () => number;
}

/** An inspector without connections, whose events the test makes. */
export function fakeInspector(): FakeInspector {
  const listeners = new Set<(event: InspectorEvent) => void>();
  const events: InspectorEvent[] = [];
  const ran: FakeInspector['ran'] = [];
  const snapshot: PageSnapshot = {
    version: '0.0.0',
    seq: 0,
    connections: [],
    stories: [],
    messages: [],
    logs: [],
    told: [],
    found: [],
    tapes: [],
    chats: [],
    mayConnect: true,
  };
  return {
    ran,
    listeners: () => listeners.size,
    publish: (event) => {
      events.push(event);
      for (const listener of listeners) listener(event);
    },
    snapshot: () => snapshot,
    eventsAfter: (seq) => (seq < 0 ? undefined : events.filter((event) => event.seq > seq)),
    subscribe: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    run: async (command, input) => {
      ran.push({ command, input });
      if (command === 'fail')
        throw new McpError('invalid_params', 'Say which tool.', { data: { field: 'tool' } });
      if (command === 'crash') throw new TypeError('undefined is not a function');
      return { done: command };
    },
    catalog: (id) => (id === 'c/1' ? { ...emptyCatalog, version: 1 } : undefined),
    message: (seq) => (seq === 5 ? { seq, text: '{}', isCut: false } : undefined),
    outcome: (story) => (story === 7 ? '{"content":[]}' : undefined),
    share: (story) => (story === 7 ? '<!doctype html>' : undefined),
    tape: (id) => (id === 'c/1' ? '{"a":1}\n' : undefined),
    close: async () => undefined,
  };
}

/** A change that has this number. */
export function eventNumber(seq: number, text = ''): InspectorEvent {
  return { seq, type: 'disconnected', id: `c${seq}${text}` };
}
