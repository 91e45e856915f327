#!/usr/bin/env node
import '../platform/compile-cache';
import { simulate } from '../simulate/simulate';
import { zonesOfTool } from '../zoneinfo/zones-of-tool';

const { argv, stdin, stdout, stderr } = process;

void simulate(argv.slice(2), { stdin, stdout, stderr }, zonesOfTool(process)).then((exitCode) => {
  process.exitCode = exitCode;
});
