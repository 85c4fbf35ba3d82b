// The rules that only some hosts have, and what to do about each.

/** The advice of each rule. `--ignore` takes their names, which never change. */
export const HOST_RULES: Readonly<Record<string, string>> = {
  'hints-explicit':
    'Set all three: annotations: { readOnly, destructive, openWorld } in fullmcp. The review wants a reason for each.',
  'title-missing': 'Give it a title: people see it in the settings of the host.',
  'hints-missing':
    'Set readOnlyHint or destructiveHint: annotations: { readOnly: true } or { destructive: true } in fullmcp.',
  'hints-contradict-name': 'Correct the hints, or name the tool after what it does.',
  'generic-executor':
    'Replace it by one tool for each operation, with arguments of its own. Turn tools that call other tools or run code off for this host.',
  'free-command':
    'Name the operations that are allowed, as an enum or as a tool each, and say in the description which system it reaches.',
  'mixed-effects': 'Split it: one tool that reads, and one that writes.',
  'text-steers': 'Say only what the tool does. When to call it is for the host and its user to decide.',
  'name-promotes': 'Name the tool after what it does.',
  'input-excessive': 'Take only what the operation needs. The host knows the rest, or must not pass it on.',
  'output-schema-missing':
    'Give it an output schema, and structured content. Models then know what comes back.',
  'output-internals': 'Leave internal ids and logs out of the result.',
  'output-not-object': 'Make the output an object, for instance { result: … }.',
  'host-name-long': 'Shorten the name.',
  'full-name-long': 'Shorten the name of the tool, or that of the server.',
  'name-replaced': 'Use letters, digits, _ and - only.',
  'host-description-long': 'Shorten it: the rest is cut off.',
  'schema-refused': 'Repair the schema: the host drops a tool whose schema it cannot read.',
  'many-tools': 'Offer fewer tools, or let models search for tools.',
};
