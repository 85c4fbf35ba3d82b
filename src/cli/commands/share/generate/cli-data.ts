// The tools of a server as subcommands: data that the generated program reads.

import { isObject, type JsonObject } from '../../../../jsonrpc/message.js';
import { fieldsOf, jsonTypesOf } from '../../../../schema/read/across-branches.js';
import { shapeOf } from '../../../../schema/read/shape.js';
import { cleanLine } from '../../../../tooling/clean.js';
import type { Manifest } from '../../../../tooling/manifest/manifest.js';

/** An argument as an option of the program. */
interface ProgramOption {
  readonly flag: string;
  readonly name: string;
  readonly type: 'string' | 'number' | 'boolean' | 'json';
  readonly multiple: boolean;
  readonly required: boolean;
  readonly about: string;
}

export interface ProgramCommand {
  readonly command: string;
  readonly tool: string;
  readonly about: string;
  readonly options: readonly ProgramOption[];
}

const COMMAND = /^[A-Za-z0-9][\w.-]{0,63}$/;
const FLAG = /^[A-Za-z][\w-]{0,63}$/;
const RESERVED_COMMANDS = new Set(['help']);
/** The options of every subcommand. An argument with such a name is given with --args. */
const RESERVED_FLAGS = new Set(['args', 'help', 'json', 'target', 'token']);
const MAX_ABOUT = 300;

/** The subcommands of a server: one for each tool, with a name that a shell takes as a word. */
export function programCommands({ tools }: Manifest): readonly ProgramCommand[] {
  const taken = new Set<string>();
  return tools.map((tool, at) => {
    const name = String(tool['name']);
    const isUsable = COMMAND.test(name) && !RESERVED_COMMANDS.has(name) && !taken.has(name);
    const command = isUsable ? name : `tool-${at + 1}`;
    taken.add(command);
    return {
      command,
      tool: name,
      about: about(tool['description']),
      options: optionsOf(tool['inputSchema']),
    };
  });
}

function optionsOf(schema: unknown): readonly ProgramOption[] {
  const root = isObject(schema) ? schema : {};
  return fieldsOf(root, root)
    .filter(({ name }) => FLAG.test(name) && !RESERVED_FLAGS.has(name) && !name.startsWith('no-'))
    .map(({ name, schema: field, isRequired }) => {
      const shape = shapeOf(field, root);
      const isList = shape.kind === 'array' && typeOf(shape.items, root) !== 'json';
      return {
        flag: name,
        name,
        type: typeOf(isList ? shape.items : field, root),
        multiple: isList,
        required: isRequired,
        about: about(shape.schema['description']),
      };
    });
}

/** The type of an option. Null, and everything else that a word cannot be, is given with --args. */
function typeOf(schema: unknown, root: JsonObject): ProgramOption['type'] {
  const [type, second] = [...jsonTypesOf(schema, root)].filter((one) => one !== 'null');
  const isPlain = type === 'string' || type === 'number' || type === 'boolean';
  return isPlain && second === undefined ? type : 'json';
}

function about(text: unknown): string {
  return typeof text === 'string' ? cleanLine(text, MAX_ABOUT) : '';
}
