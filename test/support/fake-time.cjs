const { existsSync, readdirSync } = require('node:fs');
const { join } = require('node:path');

/** The library that gives a process another time of day: Debian has a folder for each kind of processor, other systems have one. */
exports.findFakeTime = () => {
  const below = existsSync('/usr/lib')
    ? readdirSync('/usr/lib').map((name) => `/usr/lib/${name}`)
    : [];
  return ['/usr/lib', '/usr/lib64', '/usr/local/lib', ...below]
    .map((folder) => join(folder, 'faketime', 'libfaketime.so.1'))
    .find((path) => existsSync(path));
};
