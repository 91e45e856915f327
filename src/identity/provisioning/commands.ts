import { apiKeyCommands } from './api-key-commands';
import type { Command } from './command';
import { demo } from './demo';
import { sessionCommands } from './session-commands';
import { tokenCommands } from './token-commands';
import { userCommands } from './user-commands';

/** Every command by its words: `token issue`. */
export const COMMANDS: ReadonlyMap<string, Command> = new Map([
  ...withSubject('user', userCommands),
  ...withSubject('session', sessionCommands),
  ...withSubject('token', tokenCommands),
  ...withSubject('api-key', apiKeyCommands),
  ['demo', demo],
]);

function withSubject(
  subject: string,
  commands: Readonly<Record<string, Command>>,
): readonly (readonly [string, Command])[] {
  return Object.entries(commands).map(([name, command]) => [`${subject} ${name}`, command]);
}

/** How to call the program. */
export function usage(): string {
  const lines = [...COMMANDS].map(([words, command]) =>
    [`  identity ${words} ${command.usage}`.trimEnd(), `      ${command.doc}`].join('\n'),
  );
  return [
    'identity serve [--help]',
    '      runs the service; --help prints the settings',
    '',
    ...lines,
    '',
    'With --json every result is one JSON object a line. Exit codes: 0 done, 1 it failed, 2 wrong call',
    'or input, 3 no such thing. The store is the one that IDENTITY_STORE and IDENTITY_STORE_FILE name.',
    '',
  ].join('\n');
}
