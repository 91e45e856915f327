import { withoutPassword } from '../../../../src/counters/redis/handshake';

const WRONG = 'WRONGPASS invalid username-password pair or user is disabled.';
const NOT_SET =
  'ERR AUTH <password> called without any password configured for the default user. Are you sure your configuration is correct?';

it.each([
  [WRONG, 'a'],
  [WRONG, 'user'],
  [WRONG, 'password'],
  [WRONG, 'invalid username-password'],
  [NOT_SET, 'ERR'],
  [NOT_SET, 'configuration'],
  ['ERR invalid password', 'err'],
  ['ERR Client sent AUTH, but no password is set', 'password'],
  ['LOADING Redis is loading the dataset in memory', 'dataset'],
  ['ERR something went wrong', 'e'],
])('leaves the words of a server as they are: %s (%s)', (answer, password) => {
  expect(withoutPassword(answer, password)).toBe(answer);
});

it.each([
  [
    "ERR unknown command 'AUTH', with args beginning with: 'secret' ",
    'secret',
    "ERR unknown command 'AUTH', with args beginning with: ***",
  ],
  [
    'ERR unknown command `AUTH`, with args beginning with: `a`, ',
    'a',
    'ERR unknown command `AUTH`, with args beginning with: ***',
  ],
  // Cut to a length of the server's own.
  [
    `ERR unknown command 'AUTH', with args beginning with: '${'long'.repeat(20)}`,
    'long'.repeat(40),
    "ERR unknown command 'AUTH', with args beginning with: ***",
  ],
  ["ERR no such thing 'err'", 'err', "ERR no such thing '***'"],
  ['ERR no such thing "a b"', 'a b', 'ERR no such thing "***"'],
  ['ERR AUTH hunter2 refused', 'hunter2', 'ERR AUTH *** refused'],
  ['ERR pass=hunter2', 'hunter2', 'ERR pass=***'],
  ['ERR authtopsecret', 'topsecret', 'ERR auth***'],
  ['ERR p(a$s) is wrong', 'p(a$s)', 'ERR *** is wrong'],
  ['WRONGPASS hunter2 is not it', 'hunter2', 'WRONGPASS *** is not it'],
])('hides what a server repeats of the password: %s', (answer, password, shown) => {
  expect(withoutPassword(answer, password)).toBe(shown);
});
