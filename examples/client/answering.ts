import {
  connect,
  type ElicitFormHandler,
  type Handlers,
  McpError,
  type SamplingRequest,
} from 'fullmcp/client';
import server from '../asking/server.js';

// The examples of docs/answer.md.

/** Stands in for your user interface. */
export interface Ui {
  readonly fill: (
    message: string,
    schema: object,
    signal: AbortSignal,
  ) => Promise<Record<string, unknown> | undefined>;
  readonly agrees: (question: string) => Promise<boolean>;
  readonly open: (url: string) => void;
}
/** Stands in for your model. */
export type Model = (request: SamplingRequest) => Promise<string>;

export function handlersFor(ui: Ui, model: Model): Handlers {
  // #region handlers
  const handlers: Handlers = {
    elicit: {
      async form({ message, schema }, { signal }) {
        const content = await ui.fill(message, schema, signal);
        return content === undefined ? { action: 'decline' } : { action: 'accept', content };
      },
      async url({ message, url }) {
        if (!(await ui.agrees(`${message}\nOpen ${url}?`))) return { action: 'decline' };
        ui.open(url);
        return { action: 'accept' };
      },
    },
    async sample(request) {
      if (!(await ui.agrees('May the server ask the model?'))) throw new Error('The user does not want that');
      const text = await model(request);
      return { role: 'assistant', model: 'small-1', content: { type: 'text', text } };
    },
    roots: ['file:///home/ada/shop'],
  };
  // #endregion
  return handlers;
}

export async function use(handlers: Handlers): Promise<string> {
  // #region use
  await using client = await connect(server, handlers);
  const { text } = await client.callTool('book'); // asks your handlers, and waits for their answers
  // #endregion
  return text;
}

export async function forms(fill: ElicitFormHandler): Promise<string> {
  // #region forms
  await using client = await connect(server, { elicit: fill }); // forms only: a function is enough
  const { text } = await client.callTool('book');
  // #endregion
  return text;
}

// #region terminal
/** Asks for one field after the other. `ask` shows a line and returns the user's input. */
export function fillIn(ask: (line: string, signal: AbortSignal) => Promise<string>): ElicitFormHandler {
  return async function fill({ message, schema }, { signal, rejection }) {
    const content: Record<string, unknown> = {};
    if (rejection !== undefined) console.error(rejection); // why the previous answer was invalid
    for (const [name, field] of Object.entries((schema['properties'] ?? {}) as Record<string, Field>)) {
      const input = await ask(`${message} ${field.title ?? name}:`, signal);
      if (input === '') continue; // the client fills in the default, if there is one
      content[name] = readField(field, input);
    }
    return { action: 'accept', content };
  };
}

type Field = { readonly type: string; readonly title?: string };

function readField({ type }: Field, input: string): unknown {
  if (type === 'boolean') return input === 'yes';
  if (type === 'array') return input.split(',').map((item) => item.trim());
  return type === 'string' ? input : Number(input);
}
// #endregion

export async function byKey(): Promise<string> {
  // #region by-key
  const answers: Record<string, Record<string, unknown>> = { size: { size: 'small' }, sure: { sure: true } };
  await using client = await connect(server, {
    elicit: (_form, { key = '' }) => {
      const content = answers[key];
      return content === undefined ? { action: 'cancel' } : { action: 'accept', content };
    },
  });
  // #endregion
  return (await client.callTool('deploy', { app: 'shop' })).text;
}

export async function unable(): Promise<string> {
  // #region unable
  await using client = await connect(server); // no handlers
  try {
    return (await client.callTool('book')).text;
  } catch (error) {
    if (!McpError.is(error) || error.code !== 'missing_capability') throw error;
    return error.message; // … Pass `elicit` to connect().
  }
  // #endregion
}
