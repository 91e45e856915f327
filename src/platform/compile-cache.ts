import module from 'node:module';
import { join } from 'node:path';

/** From Node 22.8 on; the types are those of the oldest Node that we run on. */
const { enableCompileCache } = module as {
  readonly enableCompileCache?: (folder: string) => unknown;
};

/**
 * Every command imports this file first: Node then keeps what it compiles in the user's own cache, so that the next start
 * saves that time. Node's default is a folder that all users share, from which it would run what another user left there.
 * A folder that cannot be written costs nothing and is not an error; NODE_COMPILE_CACHE and NODE_DISABLE_COMPILE_CACHE win.
 */
const { XDG_CACHE_HOME = '', HOME = '' } = process.env;
if (XDG_CACHE_HOME !== '') enableCompileCache?.(join(XDG_CACHE_HOME, 'weir'));
else if (HOME !== '') enableCompileCache?.(join(HOME, '.cache', 'weir'));
