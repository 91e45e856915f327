import module from 'node:module';
import { join } from 'node:path';

/** From Node 22.8 on; the types are those of the oldest supported Node. */
const { enableCompileCache } = module as {
  readonly enableCompileCache?: (folder: string) => unknown;
};

/**
 * Every command imports this file first: Node then caches compiled code in the user's own cache, which makes the next start faster.
 * Node's default is a folder that all users share, from which it would run code that another user left there. A folder that cannot
 * be written costs nothing and is not an error; NODE_COMPILE_CACHE and NODE_DISABLE_COMPILE_CACHE take precedence.
 */
const { XDG_CACHE_HOME = '', HOME = '' } = process.env;
if (XDG_CACHE_HOME !== '') enableCompileCache?.(join(XDG_CACHE_HOME, 'weir'));
else if (HOME !== '') enableCompileCache?.(join(HOME, '.cache', 'weir'));
