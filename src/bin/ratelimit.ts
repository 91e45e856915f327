#!/usr/bin/env node
import { runService } from '../app/run-service';
import { failStart } from '../app/run-process';

void runService(process).catch((error: unknown) => failStart(process, error));
