// The scripts that teach a shell to complete `fullmcp`. They ask `fullmcp __complete`, and never evaluate its answer.

/** The shells that can be taught. */
export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

const bash = `# Completion of fullmcp for bash. Put this into ~/.bashrc: eval "$(fullmcp completion bash)"
_fullmcp_complete() {
  local line
  COMPREPLY=()
  while IFS= read -r line; do
    COMPREPLY+=("$line")
  done < <(fullmcp __complete bash "$COMP_WORDBREAKS" -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null </dev/null)
  if [[ \${#COMPREPLY[@]} -eq 1 && \${COMPREPLY[0]} == *= ]]; then
    compopt -o nospace 2>/dev/null
  fi
}
complete -o default -F _fullmcp_complete fullmcp`;

const zsh = `#compdef fullmcp
# Completion of fullmcp for zsh. Put this into ~/.zshrc, after compinit: eval "$(fullmcp completion zsh)"
_fullmcp_complete() {
  local -a found open
  found=("\${(@f)$(fullmcp __complete zsh -- "\${(@Q)words[2,CURRENT]}" 2>/dev/null </dev/null)}")
  found=("\${(@)found:#}")
  if (( ! \${#found} )); then
    _files
    return
  fi
  open=("\${(@M)found:#*=}")
  found=("\${(@)found:#*=}")
  (( \${#open} )) && compadd -S '' -- "\${open[@]}"
  (( \${#found} )) && compadd -- "\${found[@]}"
}
compdef _fullmcp_complete fullmcp`;

const fish = `# Completion of fullmcp for fish. Put this into ~/.config/fish/config.fish: fullmcp completion fish | source
function __fullmcp_complete
  set -l typed (commandline -opc) (commandline -ct)
  fullmcp __complete fish -- $typed[2..-1] 2>/dev/null </dev/null
end
complete -c fullmcp -a '(__fullmcp_complete)'`;

export const scripts: Readonly<Record<Shell, string>> = { bash, zsh, fish };
