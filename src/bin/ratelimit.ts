#!/usr/bin/env node
import '../platform/compile-cache';
import { runService } from '../app/run-service';
import { failStart } from '../app/run-process';

void runService(process).catch((error: unknown) => failStart(process, error));
