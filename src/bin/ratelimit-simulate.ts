#!/usr/bin/env node
import '../platform/compile-cache';
import { simulate } from '../simulate/simulate';

const { argv, stdin, stdout, stderr } = process;

void simulate(argv.slice(2), { stdin, stdout, stderr }).then((exitCode) => {
  process.exitCode = exitCode;
});
