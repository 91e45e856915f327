#!/usr/bin/env node
import { runService } from '../app/run-service';

void runService(process).catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
});
