import { parentPort } from 'node:worker_threads';
import { serveParsing } from './loader/serve-parsing';
import { parseRules } from './parse-rules';

/** The script of the worker thread that `parseInWorker` starts. */
if (parentPort !== null) serveParsing(parentPort, parseRules);
