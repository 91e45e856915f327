#!/usr/bin/env node
import { runIdentity } from '../app/identity/run-identity';

void runIdentity(process).catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
});
