#!/usr/bin/env node
import '../platform/compile-cache';
import { endWithReader } from '../platform/stdio';
import { simulate } from '../simulate/simulate';
import { zonesOfTool } from '../zoneinfo/open-zones';

const { argv, stdin, stdout, stderr } = process;

endWithReader(process);

void simulate(argv.slice(2), { stdin, stdout, stderr }, zonesOfTool(process)).then((exitCode) => {
  process.exitCode = exitCode;
});
