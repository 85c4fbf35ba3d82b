import type { Command } from '../../command/definition.js';
import { usageError } from '../../command/failures.js';
import { SHELLS, scripts } from '../../completion/scripts.js';

/** `fullmcp completion`. */
export const completion: Command = {
  usage: 'bash|zsh|fish',
  details:
    'Prints a script that completes commands, options, configured servers and, for a server at a URL, its tools, arguments, prompts and\nresources. Completion never starts a program, waits two seconds at most (or the --timeout of the line), and says nothing if\nit fails.',
  words: [1, 1],
  options: {},
  examples: [
    { line: 'eval "$(fullmcp completion bash)"', says: 'In ~/.bashrc.' },
    { line: 'eval "$(fullmcp completion zsh)"', says: 'In ~/.zshrc, after compinit.' },
    { line: 'fullmcp completion fish | source', says: 'In ~/.config/fish/config.fish.' },
  ],
  json: '{ ok: true, shell: "bash" | "zsh" | "fish", script: string }',
  run: ({ words: [name = ''], out }) => {
    const shell = SHELLS.find((one) => one === name);
    if (shell === undefined)
      throw usageError(`There is completion for ${SHELLS.join(', ')}, but not for ${JSON.stringify(name)}.`);
    out.json({ ok: true, shell, script: scripts[shell] });
    out.value(scripts[shell]);
    return Promise.resolve();
  },
};
