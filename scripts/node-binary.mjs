// Prints the path of a Node binary, fetched once from npm into .cache: node scripts/node-binary.mjs 20 | 22 | 24
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const CACHE = join(ROOT, '.cache');
const [, ofImage] = /^ARG NODE_IMAGE=node:([\d.]+)-/m.exec(
  readFileSync(join(ROOT, 'Dockerfile'), 'utf8'),
);
const [, least] = />=([\d.]+)/.exec(
  JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).engines.node,
);
/** The oldest that package.json takes, the one between, and that of the image. */
const VERSIONS = { 20: `${least}.0`, 22: '22.23.3', 24: ofImage };

const version = VERSIONS[process.argv[2]];
if (version === undefined) {
  console.error(`usage: node scripts/node-binary.mjs ${Object.keys(VERSIONS).join(' | ')}`);
  process.exit(2);
}
const name = `node-${process.platform}-${process.arch}`;
const folder = join(CACHE, `node-${version}`);
const binary = join(folder, 'node_modules', name, 'bin/node');
if (!existsSync(binary)) {
  mkdirSync(CACHE, { recursive: true });
  const draft = mkdtempSync(`${folder}-`);
  // A folder that mkdtemp makes is closed to other users.
  chmodSync(draft, 0o755);
  const words = ['install', '--no-save', '--no-audit', '--no-fund', '--prefix', draft];
  execFileSync('npm', [...words, `${name}@${version}`], { stdio: ['ignore', 'ignore', 'inherit'] });
  try {
    renameSync(draft, folder);
  } catch (error) {
    // Another process has put it there meanwhile.
    if (!existsSync(binary)) throw error;
    rmSync(draft, { recursive: true });
  }
}
console.log(binary);
