import { type InProcess, inProcess, type Outcome, type Server } from 'fullmcp';

// A host with a model that does what the results say: it reads the words and the data, and calls the tools that they name.

interface Told {
  readonly status: string;
  readonly task: string;
  readonly message: string;
  readonly questions?: Readonly<
    Record<string, { message: string; schema?: object; link?: string; url?: string }>
  >;
}

export interface HostOptions {
  readonly name?: string;
  readonly caller?: string | undefined;
  readonly capabilities?: object;
}

/** The answers of the user, by question. `undefined` refuses. */
type Answers = Readonly<Record<string, object | undefined>>;

export interface TestHost {
  readonly server: Server;
  readonly request: InProcess;
  readonly call: (name: string, args?: object) => Promise<Outcome>;
  /** Calls a tool, and does what the results say, until there is a result. */
  readonly finish: (
    name: string,
    args: object,
    answers?: Answers,
  ) => Promise<{ text: string; calls: string[] }>;
}

export function hostOf(
  server: Server,
  { name = 'openai-mcp', caller = 'ada', capabilities = {} }: HostOptions = {},
): TestHost {
  const request = inProcess(server, {
    client: { name, version: '1.0.0' },
    capabilities,
    ...(caller !== undefined && { caller: { subject: caller } }),
  });
  const call = (tool: string, args: object = {}): Promise<Outcome> =>
    request('tools/call', { name: tool, arguments: args });
  return {
    server,
    request,
    call,
    async finish(tool, args, answers = {}) {
      const calls = [tool];
      let outcome = await call(tool, args);
      for (;;) {
        const next = nextCall(outcome, answers);
        if (next === undefined) return { text: textOf(outcome), calls };
        calls.push(next[0]);
        if (calls.length > 100) throw new Error(`No end: ${calls.slice(0, 10).join(', ')}`);
        outcome = await call(...next);
      }
    },
  };
}

/** The call that a result asks the model for; undefined if the result is that of the tool. */
function nextCall(outcome: Outcome, answers: Answers): [string, object] | undefined {
  const { status, task, questions } = toldIn(outcome);
  if (status === 'working') return ['continue_task', { task }];
  if (status !== 'input_required') return undefined;
  const [question = ''] = Object.keys(questions ?? {});
  const answer = answers[question];
  return ['answer_question', { task, question, ...(answer === undefined ? { decline: true } : { answer }) }];
}

export function toldIn(outcome: Outcome): Told {
  return (outcome['structuredContent'] ?? {}) as Told;
}

export function textOf(outcome: Outcome): string {
  const [block] = (outcome['content'] ?? []) as { text?: string }[];
  return block?.text ?? '';
}
