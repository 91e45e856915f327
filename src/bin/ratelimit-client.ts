#!/usr/bin/env node
import '../platform/compile-cache';
import { runClient } from '../cli/run';
import { endWithReader } from '../platform/stdio';
import { hushServerNameWarning } from '../platform/server-name';

endWithReader(process);
hushServerNameWarning(process);

void runClient(process.argv.slice(2)).then(({ exitCode, stdout, stderr }) => {
  process.exitCode = exitCode;
  process.stdout.write(stdout);
  process.stderr.write(stderr);
});
