#!/usr/bin/env node
import '../platform/compile-cache';
import { checkDeployment } from '../deployment/check-deployment';
import { endWithReader } from '../platform/stdio';
import { checkRules } from '../rule-sources/check/check-rules';
import { readSource } from '../rule-sources/read-source';
import { zonesOfTool } from '../zoneinfo/open-zones';

const { argv, stdin, stdout, stderr } = process;

endWithReader(process);

void checkRules(
  argv.slice(2),
  (source) => readSource(source, stdin),
  zonesOfTool(process),
  (paths) => checkDeployment(paths, stdin),
).then(({ exitCode, lines, errorLines }) => {
  for (const line of lines) stdout.write(`${line}\n`);
  for (const line of errorLines) stderr.write(`${line}\n`);
  process.exitCode = exitCode;
});
