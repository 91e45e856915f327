// Writes NOTICE: which packages the service brings along, under which licences. `--check` only compares, and ends with 1 when they differ.
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const NOTICE = join(ROOT, 'NOTICE');

const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'));

/** Lines that name who holds the rights, without the template that the Apache licence ends with. */
function copyrightsOf(folder) {
  if (!existsSync(folder)) throw new Error(`${folder} is missing: run npm ci first`);
  const files = readdirSync(folder).filter((file) => /^(licen[cs]e|notice|copying)/i.test(file));
  const lines = files.flatMap((file) => readFileSync(join(folder, file), 'utf8').split('\n'));
  const named = lines
    .map((line) => line.trim())
    .filter((line) => /^copyright\b.*(\d{4}|\(c\)|©)/i.test(line) && !line.includes('[yyyy]'));
  return [...new Set(named)];
}

function licenceOf(path, { license }) {
  if (license === undefined) throw new Error(`${path} names no licence in package-lock.json`);
  return license;
}

const entries = Object.entries(packages)
  .filter(
    ([path, { dev, devOptional, optional }]) => path !== '' && !dev && !devOptional && !optional,
  )
  .map(([path, one]) => {
    const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
    const lines = copyrightsOf(join(ROOT, path)).map((line) => `    ${line}\n`);
    return `${name} ${one.version}: ${licenceOf(path, one)}\n${lines.join('')}`;
  });
// Written by write-zoneinfo.mjs.
const zones = readFileSync(join(ROOT, 'zoneinfo/NOTICE'), 'utf8');
const text = `Weir
Licensed under the Apache License, Version 2.0; see LICENSE.

It brings these packages along, each with its licence in its folder of node_modules.
This file is written by \`node scripts/write-notice.mjs\`.

${[...new Set(entries)].sort().join('')}
${zones}`;

if (process.argv.includes('--check')) {
  if (!existsSync(NOTICE) || readFileSync(NOTICE, 'utf8') !== text) {
    console.error('NOTICE differs from package-lock.json: run node scripts/write-notice.mjs');
    process.exitCode = 1;
  }
} else {
  writeFileSync(NOTICE, text);
}
