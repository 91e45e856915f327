#!/usr/bin/env node
import { join } from 'node:path';
import { packageFolder } from '../app/package-version';
import { failStart } from '../app/process-end';
import { runService } from '../app/run-service';

// `npx weir` has no folder of rules yet: the examples show what it does.
if ((process.env['RUNTIME_ROOT'] ?? '') === '')
  process.env['RUNTIME_ROOT'] = join(packageFolder(), 'examples');

void runService(process).catch((error: unknown) => failStart(process, error));
