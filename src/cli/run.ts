// Finds the command that was typed, runs it, and turns what happened into an exit code.

import { fullmcp } from '../client/model/options.js';
import { closestName } from '../schema/explain/closest-name.js';
import type { CommandSummary, Typed } from './command/definition.js';
import { EXIT, exitOf, explained, failureJson, ReportedError, usageError } from './command/failures.js';
import { commandsBelow, findCommand } from './command/find-command.js';
import { commandHelp, commandJson, commandsJson, groupHelp, programHelp, shortHelp } from './command/help.js';
import { currentLine } from './command/old-names.js';
import { parseInput } from './command/parse.js';
import { allCommands, commandGroups, firstCommands } from './commands.js';
import { Output, type OutputParts } from './terminal/output.js';

type Rest = Pick<Typed, 'out' | 'person' | 'signal' | 'runLine'>;

export interface Surroundings extends Omit<OutputParts, 'isJson'> {
  readonly person: Typed['person'];
  readonly signal: AbortSignal;
}

/** Runs a command line. Returns its exit code, and never throws. */
export async function runCommand(typed: readonly string[], around: Surroundings): Promise<number> {
  const ours = typed.includes('--') ? typed.slice(0, typed.indexOf('--')) : typed;
  const out = new Output({ ...around, isJson: ours.includes('--json') });
  try {
    const runLine: Typed['runLine'] = (line, target) => runAgain(line, target, around, out.isJson);
    await run(typed, ours, { out, person: around.person, signal: around.signal, runLine });
    return EXIT.done;
  } catch (thrown) {
    out.wait();
    const error = explained(thrown);
    if (error instanceof ReportedError) return EXIT[error.exit];
    out.redraw('');
    const exit = around.signal.aborted ? 'interrupted' : exitOf(error);
    const message = error instanceof Error ? error.message : String(error);
    if (ours.includes('--debug') && error instanceof Error) out.note(error.stack ?? message);
    if (exit !== 'interrupted' || out.isJson) out.failure(message, failureJson(error));
    return EXIT[exit];
  } finally {
    out.wait();
  }
}

async function runAgain(
  line: readonly string[],
  target: string,
  around: Surroundings,
  isJson: boolean,
): Promise<void> {
  const { words, length } = currentLine(allCommands, line);
  const at = length || find(words).name.split(' ').length;
  const typed = [...line.slice(0, at), target, ...line.slice(at), ...(isJson ? ['--json'] : [])];
  const code = await runCommand(typed, around);
  if (code !== EXIT.done) throw new ReportedError(code);
}

async function run(line: readonly string[], own: readonly string[], more: Rest): Promise<void> {
  const { out } = more;
  const [first = ''] = own;
  if (['--version', '-v', 'version'].includes(first)) return version(out);
  if (own.every((word) => ['', '--json', '--debug'].includes(word))) return startWith(line, more);
  if (first === 'help' && own.some((word, at) => at > 0 && !word.startsWith('-')))
    return run([...own.slice(1), '--help'], [...own.slice(1), '--help'], more);
  if (['--help', '-h', 'help'].includes(first)) {
    out.json(commandsJson(commandGroups));
    return out.styled(programHelp(commandGroups, out));
  }
  if (first === '__complete')
    return (await import('./completion/complete-words.js')).completeWords(allCommands, line.slice(1), more);
  const { words: typed, note } = currentLine(allCommands, line);
  const isHelp = own.includes('--help') || own.includes('-h');
  if (!isHelp && (await isTarget(first))) return openPrompt(line, more);
  const below = isHelp && !findCommand(allCommands, typed) ? commandsBelow(allCommands, [first]) : [];
  if (below.length > 0) {
    out.json(commandsJson({ [first]: below }));
    return out.styled(groupHelp(below, out));
  }
  const found = find(typed);
  if (note !== undefined) out.note(note);
  const command = await found.load();
  const rest = typed.slice(found.name.split(' ').length);
  if (isHelp) {
    const { TARGET_OPTIONS: shared } = await import('./target/options.js');
    out.json(commandJson(found, command));
    return out.styled(commandHelp(found, command, { shared, out }));
  }
  await command.run(parseInput(found.name, command, rest, more));
}

function version(out: Output): void {
  out.json({ ok: true, version: fullmcp.version });
  out.value(fullmcp.version);
}

/** A line without a command: the first commands, or the prompt of a server that is started by what follows `--`. */
async function startWith(line: readonly string[], more: Rest): Promise<void> {
  if (line.includes('--')) return openPrompt(line, more);
  more.out.json(commandsJson(commandGroups));
  more.out.styled(shortHelp(commandGroups, firstCommands, more.out));
}

async function openPrompt(line: readonly string[], more: Rest): Promise<void> {
  const { prompt } = await import('./prompt/prompt.js');
  await prompt.run(parseInput('', prompt, line, more));
}

/** Whether a line begins with a target instead of a command: an address, a file, or a server that is configured. */
async function isTarget(first: string): Promise<boolean> {
  if (findCommand(allCommands, [first]) ?? commandsBelow(allCommands, [first])[0]) return false;
  const { looksLikeTarget } = await import('./target/read-target.js');
  return looksLikeTarget(first);
}

/** The command whose name the line begins with. */
function find(typed: readonly string[]): CommandSummary {
  const found = findCommand(allCommands, typed);
  if (found) return found;
  const [first = '', second = ''] = typed;
  const deeper = commandsBelow(allCommands, [first, second]);
  const inside = deeper.length > 0 ? deeper : commandsBelow(allCommands, [first]);
  if (inside.length > 0) {
    const near = closestName(
      second,
      inside.map(({ name }) => name.slice(first.length + 1)),
    );
    throw usageError(
      near !== undefined
        ? `fullmcp ${first} has no command ${JSON.stringify(second)}. Did you mean ${JSON.stringify(`${first} ${near}`)}?`
        : `Say which: ${inside.map(({ name }) => `fullmcp ${name}`).join(', ')}.`,
    );
  }
  const close = closestName(first, [
    ...new Set(allCommands.flatMap(({ name }) => [name, name.split(' ')[0] ?? ''])),
  ]);
  const hint = close ? ` Did you mean ${JSON.stringify(close)}?` : ' `fullmcp help` lists all commands.';
  throw usageError(`fullmcp has no command ${JSON.stringify(first)}.${hint}`);
}
