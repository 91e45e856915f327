// node scripts/release.mjs: checks what is committed, builds the npm package and its list of parts (CycloneDX) into
// .cache/release and tags the commit. Refuses when the tree is not clean, when CHANGELOG.md has no heading for the
// version of package.json, when its tag exists, and when .ci/run fails. Publishes nothing.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const FOLDER = '.cache/release';
const print = (program, ...words) =>
  execFileSync(program, words, { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 }).trim();

function refuse(reason) {
  console.error(`no release: ${reason}`);
  process.exit(1);
}

function checkTree(when) {
  const changes = print('git', 'status', '--porcelain');
  if (changes !== '') refuse(`the tree is not clean ${when}:\n${changes}`);
}

function runTests(what, command, ...words) {
  try {
    execFileSync(command, words, { stdio: 'inherit' });
  } catch (error) {
    refuse(`${what} failed: ${error.message}`);
  }
}

const { name, version } = JSON.parse(readFileSync('package.json', 'utf8'));
const tag = `v${version}`;

checkTree('before the tests');
if (!readFileSync('CHANGELOG.md', 'utf8').split('\n').includes(`## ${version}`))
  refuse(`CHANGELOG.md has no heading "## ${version}"`);
if (print('git', 'tag', '--list', tag) !== '') refuse(`the tag ${tag} exists`);
runTests('.ci/run', join(process.cwd(), '.ci', 'run'));
runTests('npm run test:release', 'npm', 'run', '--silent', 'test:release');
checkTree('after the tests');

mkdirSync(FOLDER, { recursive: true });
const [{ filename }] = JSON.parse(
  print('npm', 'pack', '--silent', '--json', '--pack-destination', FOLDER),
);
const bom = JSON.parse(
  print('npm', 'sbom', '--sbom-format=cyclonedx', '--sbom-type=application', '--omit=dev'),
);
// npm calls it by the folder that it lies in.
bom.metadata.component.name = name;
const parts = `${FOLDER}/${name}-${version}.cdx.json`;
writeFileSync(parts, `${JSON.stringify(bom, null, 2)}\n`);
print('git', 'tag', '--annotate', tag, '--message', `Weir ${version}`);
console.log(`tagged ${tag}; built ${FOLDER}/${filename} and ${parts}`);
console.log(`to publish: git push origin ${tag}`);
