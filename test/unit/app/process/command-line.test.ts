import { parseCommandLine } from '../../../../src/app/process/command-line';

it.each([
  [[], { kind: 'serve' }],
  [['/bin/ratelimit'], { kind: 'serve' }],
  [['--help'], { kind: 'help' }],
  [['-h'], { kind: 'help' }],
  [['-version'], { kind: 'version' }],
  [['-v'], { kind: 'version' }],
  [['--constructor'], { kind: 'mistake', message: 'unknown argument "--constructor"' }],
  [['--completion', 'bash'], { kind: 'completion' }],
  [['--completion', 'fish'], { kind: 'mistake', message: '--completion is "fish", expected bash' }],
  [['serve'], { kind: 'mistake', message: 'unknown argument "serve"' }],
  [[''], { kind: 'mistake', message: 'unknown argument ""' }],
])('reads %j', (words, command) => {
  expect(parseCommandLine(words)).toEqual(command);
});
