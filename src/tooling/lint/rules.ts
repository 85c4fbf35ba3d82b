// The rules of `fullmcp lint`: how severe each is, and which vendors of models it concerns.

export type Severity = 'error' | 'warning' | 'advice';
type Vendor = 'MCP' | 'OpenAI' | 'Anthropic' | 'Gemini';

export interface LintRule {
  readonly severity: Severity;
  /** Those who reject or ignore it; empty if it concerns the model that reads it, whoever made that. */
  readonly vendors: readonly Vendor[];
  /** The advice that is the same for every finding. */
  readonly fix: string;
  /** Other advice for some kinds of definitions. */
  readonly fixes?: Readonly<Partial<Record<LintFinding['kind'], string>>>;
}

const CONTENT = 'Say in one or two sentences what it contains, and when to read it.';
const ALL: readonly Vendor[] = ['OpenAI', 'Anthropic', 'Gemini'];

/** All rules. `--ignore` takes their names, which never change. */
export const RULES: Readonly<Record<string, LintRule>> = {
  'name-characters': {
    severity: 'error',
    vendors: ['MCP', ...ALL],
    fix: 'Use letters, digits, _ and - only.',
  },
  'name-dot': { severity: 'warning', vendors: ['OpenAI', 'Anthropic'], fix: 'Use _ instead of the dot.' },
  'name-length': {
    severity: 'error',
    vendors: ['OpenAI', 'Gemini'],
    fix: 'Shorten it to 64 characters; hosts add a prefix, so 40 is safer.',
  },
  'name-start': { severity: 'warning', vendors: ['Gemini'], fix: 'Begin it with a letter or _.' },
  'property-name': {
    severity: 'error',
    vendors: ['Anthropic'],
    fix: 'Use 1 to 64 letters, digits, _, - and dots.',
  },
  'invisible-characters': {
    severity: 'error',
    vendors: [],
    fix: 'Remove them: people cannot see them, models read them.',
  },
  'description-missing': {
    severity: 'warning',
    vendors: [],
    fix: 'Say in one or two sentences what it does, when to use it and what it returns.',
    fixes: {
      resource: CONTENT,
      template: CONTENT,
      prompt: 'Say in one or two sentences what it asks the model to do, and when to use it.',
    },
  },
  'description-long': {
    severity: 'warning',
    vendors: ['OpenAI'],
    fix: 'Shorten it to 1024 characters; put the rest into the instructions or a resource.',
  },
  'argument-description-missing': {
    severity: 'advice',
    vendors: [],
    fix: 'Describe each argument in a few words, with an example of its format.',
  },
  'root-not-object': {
    severity: 'error',
    vendors: ALL,
    fix: 'Make the root one object with properties; put the alternatives into a property.',
  },
  'external-ref': { severity: 'error', vendors: ALL, fix: 'Put the schema into $defs.' },
  'unsupported-keyword': {
    severity: 'warning',
    vendors: [],
    fix: 'Say the same with type, properties, enum and anyOf.',
  },
  'ignored-keyword': {
    severity: 'advice',
    vendors: [],
    fix: 'Say it in the description as well, or check it in the handler.',
  },
  'type-array': {
    severity: 'warning',
    vendors: ['Gemini'],
    fix: 'Use one type, and leave the argument out of "required" instead of allowing null; for other types, use anyOf.',
  },
  'boolean-schema': {
    severity: 'warning',
    vendors: ['OpenAI', 'Gemini'],
    fix: 'Write an object with a type, as in { "type": "string" }; leave out a property that may never be there.',
  },
  'array-without-items': { severity: 'error', vendors: ['OpenAI', 'Gemini'], fix: 'Give the array "items".' },
  'required-unknown': {
    severity: 'error',
    vendors: ['Gemini'],
    fix: 'List in "required" only names that "properties" has.',
  },
  'enum-not-strings': {
    severity: 'warning',
    vendors: ['Gemini'],
    fix: 'Use strings, or a number with a minimum and a maximum.',
  },
  'recursive-schema': {
    severity: 'warning',
    vendors: ['Gemini'],
    fix: 'Repeat it for the few levels that are needed.',
  },
  'deep-nesting': {
    severity: 'warning',
    vendors: ['OpenAI'],
    fix: 'Flatten the arguments to 5 levels or fewer.',
  },
  'many-properties': {
    severity: 'warning',
    vendors: ['OpenAI'],
    fix: 'Split the tool, or take fewer than 100 arguments.',
  },
  'slow-pattern': {
    severity: 'warning',
    vendors: [],
    fix: 'Rewrite it so that a repeated group can match a string in only one way.',
  },
  'similar-name': { severity: 'warning', vendors: [], fix: 'Give the two names that a model cannot mix up.' },
  'similar-description': { severity: 'warning', vendors: [], fix: 'Say in both how they differ.' },
  'tool-tokens': { severity: 'warning', vendors: [], fix: 'Shorten its descriptions and its schema.' },
  'total-tokens': {
    severity: 'warning',
    vendors: [],
    fix: 'Offer fewer tools, shorten their descriptions, or let models search for tools.',
  },
  'annotations-missing': {
    severity: 'advice',
    vendors: [],
    fix: 'Set readOnlyHint or destructiveHint, which is annotations: { readOnly: true } or { destructive: true } in fullmcp: hosts treat a tool without them as destructive.',
  },
  'annotations-contradict': {
    severity: 'warning',
    vendors: [],
    fix: 'Remove destructiveHint from a tool that only reads.',
  },
};

export interface LintFinding {
  readonly rule: string;
  readonly severity: Severity;
  readonly kind: 'server' | 'tool' | 'resource' | 'template' | 'prompt';
  /** The name, or the URI. */
  readonly name: string;
  /** The place in the input schema, such as `items[].price`. */
  readonly path?: string;
  /** Those who reject or ignore it; empty if it concerns every model. */
  readonly vendors: readonly string[];
  readonly says: string;
  readonly fix: string;
  /** Where a rule of a host comes from, with its date. */
  readonly source?: string;
}

/** A finding before the facts of its rule are added. */
export interface Found {
  readonly rule: string;
  readonly says: string;
  readonly path?: string;
  readonly vendors?: readonly Vendor[];
}
