#!/usr/bin/env node
import '../platform/compile-cache';
import '../platform/rxjs-in-one-file';
import { join } from 'node:path';
import { folderWith } from '../platform/package';
import { failStart } from '../app/process/run-process';
import { runService } from '../app/run-service';

const given = { ...process.env };

// `npx weir` has no folder of rules yet: the examples show what it does.
if ((process.env['RUNTIME_ROOT'] ?? '') === '')
  process.env['RUNTIME_ROOT'] = join(folderWith('package.json'), 'examples');

void runService(process, given).catch((error: unknown) => failStart(process, error));
