// All commands, by what they are for. Only this table is loaded before a command is known.

import type { CommandSummary } from './command/definition.js';
import type { CommandGroups } from './command/help.js';

export const commandGroups: CommandGroups = {
  'Write a server': [
    {
      name: 'new',
      summary: 'make a project with a server, its test and its configuration',
      load: async () => (await import('./commands/project/new.js')).newProject,
    },
    {
      name: 'dev',
      summary: 'serve a file, and reload it on save without dropping clients',
      load: async () => (await import('./commands/project/dev.js')).dev,
    },
    {
      name: 'run',
      summary: 'serve a file, a URL or a config',
      load: async () => (await import('./commands/project/run.js')).run,
    },
    {
      name: 'docs',
      summary: 'search the documentation, or serve it to a coding agent',
      load: async () => (await import('./commands/learn/docs.js')).docs,
    },
    {
      name: 'install-skill',
      summary: 'teach a coding agent to build with the installed version',
      load: async () => (await import('./commands/learn/install-skill.js')).installSkill,
    },
  ],
  'Use a server': [
    {
      name: 'list',
      summary: 'show what a server offers',
      load: async () => (await import('./commands/use/list.js')).list,
    },
    {
      name: 'call',
      summary: 'call a tool',
      load: async () => (await import('./commands/use/call.js')).call,
    },
    {
      name: 'read',
      summary: 'read a resource',
      load: async () => (await import('./commands/use/read.js')).read,
    },
    {
      name: 'prompt',
      summary: 'get the messages of a prompt',
      load: async () => (await import('./commands/use/prompt.js')).prompt,
    },
    {
      name: 'tasks',
      summary: 'look at a task, answer it, wait for it, cancel it',
      load: async () => (await import('./commands/use/tasks.js')).tasks,
    },
    {
      name: 'subscribe',
      summary: 'print changes and log messages',
      load: async () => (await import('./commands/use/subscribe.js')).subscribe,
    },
    {
      name: 'info',
      summary: 'show what a server says about itself, and how fast it answers',
      load: async () => (await import('./commands/use/info.js')).info,
    },
    {
      name: 'completion',
      summary: 'print a script for the completion of a shell',
      load: async () => (await import('./commands/use/completion.js')).completion,
    },
  ],
  'Check a server': [
    {
      name: 'inspect',
      summary: 'open the inspector, a page that calls tools and shows every message',
      load: async () => (await import('./commands/check/inspect.js')).inspect,
    },
    {
      name: 'manifest',
      summary: 'print everything that a server offers, for diff and other programs',
      load: async () => (await import('./commands/check/manifest.js')).manifest,
    },
    {
      name: 'test',
      summary: 'run the requests of a project, and compare their results',
      load: async () => (await import('./commands/check/test.js')).test,
    },
    {
      name: 'eval',
      summary: 'show whether models understand the tools, from tapes or by asking them',
      load: async () => (await import('./commands/check/eval.js')).evalCommand,
    },
    {
      name: 'diff',
      summary: 'show what changed between two servers or manifests',
      load: async () => (await import('./commands/check/diff.js')).diff,
    },
    {
      name: 'lint',
      summary: 'find what models and their vendors trip over',
      load: async () => (await import('./commands/check/lint.js')).lint,
    },
    {
      name: 'lock',
      summary: 'pin what servers offer in a lock file, or compare them with it (--check)',
      load: async () => (await import('./commands/check/lock.js')).lock,
    },
    {
      name: 'record',
      summary: 'record the traffic with a server on a tape',
      load: async () => (await import('./commands/check/record.js')).record,
    },
    {
      name: 'replay',
      summary: 'run a tape against another server and compare the results',
      load: async () => (await import('./commands/check/replay.js')).replay,
    },
  ],
  'Give it to others': [
    {
      name: 'generate client',
      summary: 'write a typed client of a server',
      load: async () => (await import('./commands/share/generate.js')).generateClient,
    },
    {
      name: 'generate types',
      summary: 'write the types of a server',
      load: async () => (await import('./commands/share/generate.js')).generateTypes,
    },
    {
      name: 'generate cli',
      summary: 'write a program with a subcommand for each tool',
      load: async () => (await import('./commands/share/generate.js')).generateCli,
    },
    {
      name: 'generate docs',
      summary: 'write a reference of a server in Markdown',
      load: async () => (await import('./commands/share/generate.js')).generateDocs,
    },
    {
      name: 'publish card',
      summary: 'fetch, check or make the card of a server',
      load: async () => (await import('./commands/share/card.js')).card,
    },
    {
      name: 'publish bundle',
      summary: 'pack a project into an .mcpb file',
      load: async () => (await import('./commands/share/bundle.js')).bundle,
    },
    {
      name: 'publish registry',
      summary: 'write and check the server.json of the MCP registry',
      load: async () => (await import('./commands/share/registry.js')).registry,
    },
  ],
  'Give it to a host': [
    {
      name: 'install',
      summary: 'add a server to a host such as Claude or Cursor',
      load: async () => (await import('./commands/hosts/install.js')).install,
    },
    {
      name: 'uninstall',
      summary: 'remove a server from a host',
      load: async () => (await import('./commands/hosts/uninstall.js')).uninstall,
    },
    {
      name: 'discover',
      summary: 'list the servers that hosts already have',
      load: async () => (await import('./commands/hosts/discover.js')).discover,
    },
  ],
  Events: [
    {
      name: 'events list',
      summary: 'show the types of events that a server tells',
      load: async () => (await import('./commands/events/list.js')).list,
    },
    {
      name: 'events listen',
      summary: 'print the events of a type as they happen',
      load: async () => (await import('./commands/events/listen.js')).listen,
    },
    {
      name: 'events send',
      summary: 'emit an event of your own server',
      load: async () => (await import('./commands/events/send.js')).send,
    },
    {
      name: 'events deliveries',
      summary: 'show the webhooks of your own server, and the events that failed',
      load: async () => (await import('./commands/events/deliveries.js')).deliveries,
    },
    {
      name: 'events redeliver',
      summary: 'send events again that were given up',
      load: async () => (await import('./commands/events/redeliver.js')).redeliver,
    },
  ],
  'Operate it': [
    {
      name: 'doctor',
      summary: 'find out why a server does not work, step by step',
      load: async () => (await import('./commands/operate/doctor.js')).doctor,
    },
    {
      name: 'bench',
      summary: 'measure the times of many requests',
      load: async () => (await import('./commands/operate/bench.js')).bench,
    },
    {
      name: 'proxy',
      summary: 'serve other servers as one, on stdio or over HTTP',
      load: async () => (await import('./commands/operate/proxy.js')).proxy,
    },
  ],
  'Log in': [
    {
      name: 'auth login',
      summary: 'log in to a server, and keep the tokens',
      load: async () => (await import('./commands/auth/login.js')).login,
    },
    {
      name: 'auth status',
      summary: 'show whether you are logged in, or all logins',
      load: async () => (await import('./commands/auth/status.js')).status,
    },
    {
      name: 'auth logout',
      summary: 'delete and revoke the tokens of a server',
      load: async () => (await import('./commands/auth/logout.js')).logout,
    },
    {
      name: 'auth client create',
      summary: 'write the metadata document of a client',
      load: async () => (await import('./commands/auth/client-create.js')).clientCreate,
    },
    {
      name: 'auth client validate',
      summary: 'check the metadata document of a client',
      load: async () => (await import('./commands/auth/client-validate.js')).clientValidate,
    },
  ],
};

/** The commands that `fullmcp` alone shows. */
export const firstCommands: readonly string[] = [
  ...['new', 'dev', 'call', 'list', 'inspect', 'doctor', 'install', 'lint'],
];

/** Commands that nobody types by hand: they work, and are listed nowhere. */
const hiddenCommands: readonly CommandSummary[] = [
  {
    name: 'complete',
    summary: 'complete an argument of a prompt or a resource',
    isHidden: true,
    load: async () => (await import('./commands/use/complete.js')).complete,
  },
];

export const allCommands: readonly CommandSummary[] = [
  ...Object.values(commandGroups).flat(),
  ...hiddenCommands,
];
