import { parseCommandLine } from '../../../src/app/command-line';

it.each([
  [[], { kind: 'serve' }],
  [['--help'], { kind: 'help' }],
  [['-h'], { kind: 'help' }],
  [['-version'], { kind: 'version' }],
  [['-v'], { kind: 'version' }],
  [['--constructor'], { kind: 'mistake', message: 'unknown argument "--constructor"' }],
  [['serve'], { kind: 'mistake', message: 'unknown argument "serve"' }],
  [[''], { kind: 'mistake', message: 'unknown argument ""' }],
])('reads %j', (words, command) => {
  expect(parseCommandLine(words)).toEqual(command);
});
