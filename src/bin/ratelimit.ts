#!/usr/bin/env node
import '../platform/compile-cache';
import '../platform/rxjs-in-one-file';
import { runService } from '../app/run-service';
import { failStart } from '../app/process/run-process';

void runService(process).catch((error: unknown) => failStart(process, error));
