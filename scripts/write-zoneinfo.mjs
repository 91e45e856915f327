// Writes zoneinfo/zones.tzif, the time zones that the package brings: node scripts/write-zoneinfo.mjs [VERSION]. Takes them from
// the newest wheel `tzdata` of PyPI, or from the one of this version (2026.6 is tzdata 2026f); needs pip and unzip. Done before each
// release; write-notice.mjs and test/support/write-zone-digests.py follow it.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const TARGET = join(import.meta.dirname, '../zoneinfo');
const [version] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), 'tzdata-'));
const run = (program, ...words) =>
  execFileSync(program, words, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });

try {
  const wheel = version === undefined ? 'tzdata' : `tzdata==${version}`;
  run('pip', 'download', '--no-deps', '--only-binary', ':all:', wheel);
  const [file] = readdirSync(folder);
  run('unzip', '-q', file);
  const zones = join(folder, 'tzdata/zoneinfo');
  const [, release] = /^# version (\S+)/.exec(readFileSync(join(zones, 'tzdata.zi'), 'latin1'));
  const names = readdirSync(zones, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(zones.length + 1))
    .filter((name) => readFileSync(join(zones, name)).subarray(0, 4).equals(Buffer.from('TZif')))
    .sort();
  // Names of one zone share its bytes.
  const places = new Map();
  const bodies = [];
  let length = 0;
  const lines = names.map((name) => {
    const bytes = readFileSync(join(zones, name));
    const text = bytes.toString('latin1');
    if (!places.has(text)) {
      places.set(text, length);
      bodies.push(bytes);
      length += bytes.length;
    }
    return `${name} ${places.get(text)} ${bytes.length}\n`;
  });
  const index = lines.join('');
  const head = `weir zones 1\nrelease ${release}\nindex ${index.length}\n`;
  const parts = [Buffer.from(head + index, 'latin1'), ...bodies];
  mkdirSync(TARGET, { recursive: true });
  writeFileSync(join(TARGET, 'zones.tzif'), Buffer.concat(parts));
  const [, made] = /^tzdata-([\d.]+)-/.exec(file);
  const about = `Time zones of tzdata ${release}, from PyPI's tzdata ${made}: ${names.length} names.

tzdata is in the public domain. PyPI's package that compiles it is under the Apache License, Version 2.0:

    ${copyrights(folder, made).join('\n    ')}

Written by node scripts/write-zoneinfo.mjs.
`;
  writeFileSync(join(TARGET, 'NOTICE'), about);
  console.log(`zoneinfo/zones.tzif: ${release}, ${names.length} names, ${bodies.length} zones`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function copyrights(folder, made) {
  const licence = join(folder, `tzdata-${made}.dist-info/licenses/LICENSE`);
  return readFileSync(licence, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('Copyright (c)'));
}
